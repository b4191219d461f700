import type { CommandGroup } from "../command.ts";
import { answer, approve, reject } from "./gate/answer.ts";
import { list, show } from "./gate/look.ts";

/** `holdfast gate …`: the questions that runs ask people. */
export const command: CommandGroup = {
  name: "gate",
  summary: "List and answer the gates that runs wait at",
  commands: [list, show, approve, reject, answer],
  otherwise: "list",
};
