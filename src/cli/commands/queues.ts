import type { CommandGroup } from "../command.ts";
import { pause, remove, resume, set } from "./queues/act.ts";
import { list, show } from "./queues/look.ts";

/** `holdfast queues …`: how many runs are advanced at once. */
export const command: CommandGroup = {
  name: "queues",
  summary: "Limit how many runs are at work at once, and see what waits in line",
  commands: [list, show, set, pause, resume, remove],
  otherwise: "list",
};
