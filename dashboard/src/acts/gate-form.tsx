import type { AnswerOf } from "../api/client.ts";
import { TEXT } from "../text.ts";
import { Choice } from "../ui/choice.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { checkJson } from "./check-json.ts";
import { JsonField } from "./json-field.tsx";

export type OpenGate = AnswerOf<"getGate">;

/** An answer as it is filled in. */
export interface GateDraft {
  readonly choice: string;
  readonly text: string;
  readonly data: string;
}

export const NO_ANSWER: GateDraft = { choice: "", text: "", data: "" };

const { gates: words } = TEXT;

/** The answer that is sent, or `null` while something is missing. */
export function answerFrom(gate: OpenGate, { choice, text, data }: GateDraft) {
  const found = gate.data ? checkJson(data) : null;
  if (!gate.choices.includes(choice) || found?.isValid === false) return null;
  return {
    choice,
    ...(gate.text && text.trim() !== "" ? { text } : {}),
    ...(found?.isValid ? { data: found.value } : {}),
    digest: gate.digest,
  };
}

/** What is asked, with the exact arguments. */
export function GateShow({ show }: { readonly show: unknown }) {
  if (show === undefined || show === null) return <p className="text-soft">{words.nothingShown}</p>;
  if (typeof show !== "object" || Array.isArray(show)) return <JsonTree value={show} openTo={3} />;
  return (
    <dl className="grid grid-cols-[minmax(5rem,auto)_1fr] gap-x-4 gap-y-1.5">
      {Object.entries(show).map(([name, value]: [string, unknown]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0">
            {typeof value === "object" && value !== null ? (
              <JsonTree value={value} openTo={2} />
            ) : (
              <span className="break-words whitespace-pre-wrap">{String(value)}</span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The choices, and the text and data that the gate takes. */
export function GateFields({
  gate,
  draft,
  onChange,
}: {
  readonly gate: OpenGate;
  readonly draft: GateDraft;
  readonly onChange: (draft: GateDraft) => void;
}) {
  const put = (part: Partial<GateDraft>): void => onChange({ ...draft, ...part });
  return (
    <div className="flex flex-col gap-4">
      <fieldset>
        <legend className="mb-1 font-medium">{words.choice}</legend>
        <div className="grid gap-x-4 sm:grid-cols-2">
          {gate.choices.map((choice) => (
            <Choice
              key={choice}
              group={`choice ${gate.runId} ${gate.gate}`}
              title={choice}
              isChosen={draft.choice === choice}
              onChoose={() => put({ choice })}
            >
              {gate.means[choice]}
            </Choice>
          ))}
        </div>
      </fieldset>
      {gate.text ? (
        <label className="flex flex-col gap-1">
          {words.text}
          <textarea
            rows={2}
            value={draft.text}
            onChange={(event) => put({ text: event.target.value })}
            className="rounded-md border border-line-strong bg-surface px-3 py-1.5"
          />
        </label>
      ) : null}
      {gate.data ? (
        <JsonField
          label={words.data}
          hint={words.dataHint}
          value={draft.data}
          onChange={(data) => put({ data })}
          rows={5}
        />
      ) : null}
    </div>
  );
}
