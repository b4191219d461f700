import { useState } from "react";
import { type ArgsOf, client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Choice } from "../../ui/choice.tsx";
import { command } from "../act.ts";
import { ActDialog } from "../act-dialog.tsx";
import { checkJson } from "../check-json.ts";
import { JsonField } from "../json-field.tsx";
import { type ActedRun, aboutRun, seenAt } from "../run-acts.ts";
import { DoubtFacts } from "./doubt-facts.tsx";

const { resolve: words } = TEXT;

type Action = ArgsOf<"resolveStep">["action"];
const ACTIONS: readonly Action[] = ["done", "failed", "rerun", "cancel"];

/** Settles a step whose outcome is unknown. */
export default function ResolveDialog({
  run,
  step: named,
  onClose,
}: {
  readonly run: ActedRun;
  readonly step?: string;
  readonly onClose: () => void;
}) {
  const open = run.waiting.flatMap(({ kind, step }) => (kind === "decision" ? [step] : []));
  const [step, setStep] = useState(named ?? open[0] ?? "");
  const [action, setAction] = useState<Action | null>(null);
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const value = checkJson(text);
  const hasValue = action === "done" && text.trim() !== "";
  return (
    <ActDialog
      wide
      onClose={onClose}
      act={{
        title: words.title(step),
        effect: words.effect(step),
        verb: action ? words.verbs[action] : words.verb,
        reasons: words.reasons,
        ...cliOf(run.id, step, action, text),
        permission: "runs:act",
        isDangerous: action === "cancel" || action === "rerun",
        isReady: action !== null && (!hasValue || value.isValid),
        perform: (reason) =>
          client.resolveStep(
            {
              run: run.id,
              step,
              reason,
              action: action ?? "done",
              ...(hasValue && value.isValid ? { value: value.value } : {}),
              ...(action === "failed" && error.trim() !== "" ? { error } : {}),
            },
            seenAt(run),
          ),
        about: aboutRun(run),
      }}
    >
      {open.length > 1 ? (
        <label className="flex items-center gap-2">
          {words.which}
          <select
            value={step}
            onChange={(event) => setStep(event.target.value)}
            className="rounded-md border border-line-strong bg-surface px-2 py-1"
          >
            {open.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      ) : null}
      <DoubtFacts run={run.id} step={step} />
      <fieldset>
        <legend className="mb-1 font-medium">{words.choose}</legend>
        <div className="flex flex-col">
          {ACTIONS.map((one) => (
            <Choice
              key={one}
              group="what happened"
              title={words.names[one]}
              isChosen={action === one}
              onChoose={() => setAction(one)}
            >
              {words.means[one]}
            </Choice>
          ))}
        </div>
      </fieldset>
      {action === "done" ? (
        <JsonField label={words.value} hint={words.valueHint} value={text} onChange={setText} rows={4} />
      ) : null}
      {action === "failed" ? (
        <label className="flex flex-col gap-1">
          {words.error}
          <input
            value={error}
            onChange={(event) => setError(event.target.value)}
            className="rounded-md border border-line-strong bg-surface px-3 py-1.5"
          />
        </label>
      ) : null}
    </ActDialog>
  );
}

/** Marking as failed is not a command. */
function cliOf(run: string, step: string, action: Action | null, value: string) {
  const lines: Partial<Record<Action, readonly string[]>> = {
    done: ["resume", run, "--in-doubt", "mark-done", ...(value.trim() === "" ? [] : ["--result", value])],
    rerun: ["retry", `${run}:${step}`],
    cancel: ["cancel", run],
  };
  const words = action ? lines[action] : undefined;
  return words ? { cli: (reason: string) => command(words, reason) } : {};
}
