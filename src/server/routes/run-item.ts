import { standingOf } from "../../core/manage/status/standing.ts";
import type { RunDetails } from "../../core/manage/status/status.ts";
import type { Run } from "../../core/types.ts";
import type { ApiRunItem } from "../contract/shapes.ts";

/** A run as the API shows it, with how it stands. The shape of the answer leaves out what only its worker may know. */
export const itemOf = (run: Run, now: number, details: RunDetails = {}): ApiRunItem => ({
  ...run,
  ...standingOf(run, now, details),
});

/** The entity tag of a run: its position. */
export const tagOf = ({ seq }: Pick<Run, "seq">): string => `"${seq}"`;
