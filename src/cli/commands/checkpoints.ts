import type { CommandGroup } from "../command.ts";
import { create, pin, unpin } from "./checkpoints/act.ts";
import { clear, prune } from "./checkpoints/drop.ts";
import { list } from "./checkpoints/list.ts";
import { show } from "./checkpoints/show.ts";
import { command as diff } from "./diff.ts";
import { command as exportRun } from "./export.ts";
import { command as importRuns } from "./import.ts";
import { command as validate } from "./validate.ts";

/** `holdfast checkpoints …`: positions of runs to return to. */
export const command: CommandGroup = {
  name: "checkpoints",
  summary: "List, show, label, pin and drop checkpoints",
  commands: [list, show, create, diff, validate, prune, clear, pin, unpin, exportRun, importRuns],
  otherwise: "list",
};
