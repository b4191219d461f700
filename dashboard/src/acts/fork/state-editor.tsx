import { useState } from "react";
import { client } from "../../api/client.ts";
import { previewed } from "../../checkpoints/previewed.ts";
import { TEXT } from "../../text.ts";
import { checkJson } from "../check-json.ts";
import { JsonField } from "../json-field.tsx";
import { Reveal } from "../reveal.tsx";
import { type Edits, editsOf, type State } from "./edits.ts";

const { edit: words } = TEXT;

/** Edits the values that a fork begins with. Reports the edits, or `null` while they are no valid ones. */
export function StateEditor({
  run,
  at,
  onEdits,
}: {
  readonly run: string;
  readonly at: string;
  readonly onEdits: (edits: Edits | null) => void;
}) {
  return (
    <details className="border-t border-line pt-2.5">
      <summary className="font-medium">{words.title}</summary>
      <div className="mt-3">
        <Reveal
          what={words.what(`${run}@${at}`)}
          read={async (reason) => previewed(await client.previewState({ run, at, reason }))}
        >
          {({ state, cut }) => <Editor state={state} cut={cut} onEdits={onEdits} />}
        </Reveal>
      </div>
    </details>
  );
}

function Editor({
  state,
  cut,
  onEdits,
}: {
  readonly state: State;
  /** What is too long to be edited here. */
  readonly cut: readonly string[];
  readonly onEdits: (edits: Edits | null) => void;
}) {
  const [text, setText] = useState(() => JSON.stringify(state, null, 2));
  const found = foundIn(state, text);
  return (
    <div>
      <JsonField
        label={words.label}
        hint={words.hint}
        rows={14}
        value={text}
        onChange={(now) => {
          setText(now);
          const edited = foundIn(state, now);
          onEdits(edited?.isValid ? edited.edits : null);
        }}
      />
      <p aria-live="polite" className={found?.isValid === false ? "text-bad" : "text-soft"}>
        {found === null
          ? ""
          : found.isValid
            ? found.names.length === 0
              ? words.same
              : words.changed(found.names.join(", "))
            : found.message}
      </p>
      {cut.length === 0 ? null : <p className="text-soft">{words.cut(cut.join(", "))}</p>}
    </div>
  );
}

/** `null`: no valid JSON, which the field itself tells. */
function foundIn(state: State, text: string) {
  const checked = checkJson(text);
  return checked.isValid ? editsOf(state, checked.value) : null;
}
