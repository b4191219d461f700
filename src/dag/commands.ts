import { isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { didYouMean } from "../core/nearest.ts";
import { checkChange, checkTask } from "./check.ts";
import { validateDag } from "./graph.ts";
import type { DAGCommand, DAGStructure } from "./types.ts";

/** Where each command has its keys, and what they must be. */
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isReason = (value: unknown): boolean => value === undefined || typeof value === "string";
const isFlag = (value: unknown): boolean => value === undefined || typeof value === "boolean";

type Check = readonly [key: string, isRight: (value: unknown) => boolean, what: string];
const TASK_ID: Check = ["taskId", isText, "the id of a task"];
const REASON: Check = ["reason", isReason, "a text"];

const COMMANDS: Readonly<Record<DAGCommand["type"], readonly Check[]>> = {
  add_task: [["task", isRecord, "a task"]],
  change_task: [TASK_ID, ["change", isRecord, "an object of changes"]],
  skip_task: [TASK_ID, REASON, ["cascade", isFlag, "true or false"]],
  confirm_task: [TASK_ID],
  discard_task: [TASK_ID],
  inject_context: [["context", isRecord, "an object"]],
  add_messages: [["messages", Array.isArray, "a list"]],
  replan_dag: [["dag", isRecord, "a DAG"]],
  abort: [REASON],
};

const TYPES = Object.keys(COMMANDS);

const refused = (problem: string): HoldfastError =>
  new HoldfastError("HF-4557", { problem, commands: TYPES.join(", ") });

/** The command, if its shape is right: HF-4557, or HF-455x for what is wrong with a task or a DAG in it. */
export function checkCommand(given: unknown): DAGCommand {
  if (!isRecord(given)) throw refused("it must be an object with a type");
  const { type } = given;
  const checks =
    typeof type === "string" && Object.hasOwn(COMMANDS, type)
      ? COMMANDS[type as DAGCommand["type"]]
      : undefined;
  if (!checks) {
    const likely = typeof type === "string" ? didYouMean(type, TYPES) : "";
    throw refused(`there is no command ${String(type).slice(0, 80)}.${likely}`);
  }
  const unknown = Object.keys(given).find(
    (key) => key !== "type" && !checks.some(([known]) => known === key),
  );
  if (unknown !== undefined) throw refused(`${String(type)} has no ${unknown.slice(0, 80)}`);
  const wrong = checks.find(([key, isRight]) => !isRight(given[key]));
  if (wrong) throw refused(`the ${wrong[0]} of ${String(type)} must be ${wrong[2]}`);
  const command = given as unknown as DAGCommand;
  if (command.type === "add_task") checkTask(command.task);
  if (command.type === "change_task") checkChange(command.taskId, command.change);
  if (command.type === "replan_dag") validateDag(command.dag as DAGStructure);
  return command;
}
