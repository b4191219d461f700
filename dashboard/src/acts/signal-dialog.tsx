import { useId, useState } from "react";
import { client } from "../api/client.ts";
import { TEXT } from "../text.ts";
import { ActDialog } from "./act-dialog.tsx";
import { checkJson } from "./check-json.ts";
import { JsonField } from "./json-field.tsx";
import { type ActedRun, aboutRun, seenAt } from "./run-acts.ts";

const { acts: words } = TEXT;

/** Puts a message into a run's mailbox. */
export default function SignalDialog({
  run,
  onClose,
}: {
  readonly run: ActedRun;
  readonly onClose: () => void;
}) {
  const names = run.waiting.flatMap(({ kind, names: expected = [] }) => (kind === "signal" ? expected : []));
  const [name, setName] = useState(names[0] ?? "");
  const [text, setText] = useState("");
  const id = useId();
  const payload = checkJson(text);
  const isEmpty = text.trim() === "";
  return (
    <ActDialog
      onClose={onClose}
      act={{
        ...words.signal(run.id),
        permission: "runs:act",
        isReady: name !== "" && (isEmpty || payload.isValid),
        perform: (reason) =>
          client.sendSignal(
            { run: run.id, name, reason, ...(!isEmpty && payload.isValid ? { payload: payload.value } : {}) },
            seenAt(run),
          ),
        about: aboutRun(run),
      }}
    >
      <label className="flex flex-col gap-1 font-medium">
        {words.signalName}
        <input
          list={id}
          value={name}
          onChange={(event) => setName(event.target.value)}
          className="rounded-md border border-line-strong bg-surface px-3 py-1.5 font-normal"
        />
      </label>
      <datalist id={id}>
        {names.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </datalist>
      <JsonField label={words.signalPayload} value={text} onChange={setText} rows={5} />
    </ActDialog>
  );
}
