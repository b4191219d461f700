import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { CommandContext } from "../context.ts";
import type { ErrorDocument } from "../error-document.ts";
import { oneLine, plural } from "../format.ts";
import { errorData, fieldsOf } from "../view/stored-errors.ts";
import { adviceFor, thrownBy } from "./advice.ts";
import type { Driven } from "./drive.ts";

/** The workflow itself ended in failure (HF-4011): continuing would have the same result. */
export function meantEnd(error: unknown): HoldfastError | undefined {
  const cause = HoldfastError.is(error) ? error.cause : undefined;
  return HoldfastError.is(cause) && cause.code === "HF-4011" ? cause : undefined;
}

/** Why a run has failed or was cancelled, what is saved, and what to do about it. */
export function failure(
  context: CommandContext<unknown>,
  error: unknown,
  { view }: Driven,
  isResumable: boolean,
): ErrorDocument {
  const { row } = view;
  const known = HoldfastError.is(error) ? error : undefined;
  const step = String(known?.detail["step"] ?? "");
  const record = step === "" ? undefined : view.state.find(step);
  const message = oneLine(String(known?.detail["message"] ?? row.error ?? ""));
  const verb = row.status === "cancelled" ? "was cancelled" : "stopped";
  const name = view.nameOf(step);
  const where = record ? ` in ${name}, attempt ${record.attempt}` : "";
  const thrown = thrownBy(error);
  const { code = "HF-2101", why = "" } = (HoldfastError.is(thrown) ? thrown : known) ?? {};
  const isUndone = !isResumable && row.status !== "cancelled";
  const reason = why.replaceAll(step === "" ? "\0" : step, name);
  return {
    code,
    message: `${row.id} ${verb}${message === "" ? "" : `: ${message.replace(/\.$/, "")}`}${where}`,
    ...defined({ at: adviceFor(thrown).at, cause: errorData(thrown) }),
    why: [reason, meantEnd(error) ? "" : sentence(fieldsOf(thrown))].filter((part) => part !== "").join(" "),
    safe: `${safe(view)}${isUndone ? " What it did was undone, so it can't be resumed." : ""}`,
    fix: fixes(context, error, row.id, isResumable),
    docs: [
      context.cli(record ? `show ${row.id}:${name}` : `show ${row.id}`),
      `holdfast explain ${code.slice(3)}`,
    ].join("   ·   "),
  };
}

function fixes(
  context: CommandContext<unknown>,
  error: unknown,
  runId: string,
  isResumable: boolean,
): readonly string[] {
  const meant = meantEnd(error);
  if (meant) return [meant.fix];
  if (!isResumable)
    return [`${context.cli(`fork ${runId}@<checkpoint>`)} continues from an earlier point in a new run`];
  const { first, wait } = adviceFor(thrownBy(error));
  const resume = context.cli(`resume ${runId}${wait ? ` --after ${wait}` : ""}`);
  if (first === undefined || first.startsWith("Resume")) return [resume];
  return [first, /resume the run/i.test(first) ? resume : `then ${resume}`];
}

/** `Status 429; caused by …` as a sentence. The code of our own errors is shown already. */
function sentence(text: string): string {
  const told = oneLine(text)
    .replace(/^code HF-\d+(?:[;,] )?/, "")
    .replace(/\.$/, "");
  return told === "" ? "" : `${told.slice(0, 1).toUpperCase()}${told.slice(1)}.`;
}

/** What the journal proves: how much is saved, and whether an outcome is unknown. */
function safe({ progress, row, open }: Driven["view"]): string {
  const done = progress.total === undefined ? plural(row.stepsDone, "step") : `${progress.text} steps`;
  const at = new Date(row.updatedAt).toISOString().slice(11, 19);
  const doubts = open.filter(({ status }) => status === "in_doubt").map(({ step }) => step);
  const doubt = doubts.length === 0 ? "No side effect is in doubt." : `In doubt: ${doubts.join(", ")}.`;
  return `${done} saved (checkpoint #${row.seq}, ${at} UTC). ${doubt}`;
}
