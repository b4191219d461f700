import type { CommandGroup } from "../command.ts";
import { backfill, create, pause, remove, resume, trigger, update } from "./schedules/act.ts";
import { list, next, show } from "./schedules/look.ts";

/** `holdfast schedules …`: runs that start at set times. */
export const command: CommandGroup = {
  name: "schedules",
  summary: "Start runs at set times, and look at what was started",
  commands: [list, show, create, update, pause, resume, remove, trigger, backfill, next],
  otherwise: "list",
};
