import type { CommandGroup } from "../command.ts";
import { answer, approve, reject } from "./gate/answer.ts";
import { list, show } from "./gate/look.ts";

/** `holdfast gate …`: what runs ask of people. */
export const command: CommandGroup = {
  name: "gate",
  summary: "decisions that runs wait for: look at them, answer them",
  commands: [list, show, approve, reject, answer],
  otherwise: "list",
};
