import type { CommandGroup } from "../command.ts";
import { capacity } from "./report/capacity.ts";
import { effects } from "./report/effects.ts";
import { recoveries } from "./report/recoveries.ts";
import { trail } from "./report/trail.ts";

/** `holdfast report …`: reports for auditors and operators. */
export const command: CommandGroup = {
  name: "report",
  summary: "Write reports for auditors and operators",
  commands: [trail, recoveries, effects, capacity],
};
