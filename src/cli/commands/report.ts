import type { CommandGroup } from "../command.ts";
import { acts } from "./report/acts.ts";
import { capacity } from "./report/capacity.ts";
import { effects } from "./report/effects.ts";
import { evidence } from "./report/evidence.ts";
import { recoveries } from "./report/recoveries.ts";
import { reliability } from "./report/reliability.ts";
import { steps } from "./report/steps.ts";
import { trail } from "./report/trail.ts";
import { verify } from "./report/verify.ts";

/** `holdfast report …`: reports for auditors and operators. */
export const command: CommandGroup = {
  name: "report",
  summary: "Write reports for auditors and operators",
  commands: [evidence, trail, acts, recoveries, reliability, effects, steps, capacity, verify],
};
