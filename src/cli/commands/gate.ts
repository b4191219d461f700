import type { CommandGroup } from "../command.ts";
import { answer, approve, reject } from "./gate/answer.ts";
import { list, show } from "./gate/look.ts";

/** `holdfast gate …`: the questions that runs ask people. */
export const command: CommandGroup = {
  name: "gate",
  summary: "decisions that runs wait for: look at them, answer them",
  commands: [list, show, approve, reject, answer],
  otherwise: "list",
};
