import { useId, useState } from "react";
import { client } from "../api/client.ts";
import { TEXT } from "../text.ts";
import { command } from "./act.ts";
import { ActDialog } from "./act-dialog.tsx";
import { checkJson } from "./check-json.ts";
import { type ActedRun, aboutRun, seenAt } from "./run-acts.ts";

const { acts: words } = TEXT;

/** A JSON object or list is a value; anything else is the text as it was typed. */
export function contextOf(text: string): unknown {
  const found = /^\s*[[{]/.test(text) ? checkJson(text) : null;
  return found?.isValid ? found.value : text;
}

/** Gives a run context. */
export default function InjectDialog({
  run,
  onClose,
}: {
  readonly run: ActedRun;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [to, setTo] = useState("");
  const [children, setChildren] = useState(false);
  const id = useId();
  const args = {
    run: run.id,
    context: contextOf(text),
    ...(to === "" ? {} : { to }),
    ...(children ? { children } : {}),
  };
  const flags = children ? ["--children"] : [];
  return (
    <ActDialog
      onClose={onClose}
      act={{
        ...words.inject(run.id),
        cli: (reason) => command(["inject", run.id, "--text", text, ...flags], reason),
        permission: "runs:act",
        isReady: text.trim() !== "",
        perform: (reason) => client.injectContext({ ...args, reason }, seenAt(run)),
        about: aboutRun(run),
      }}
    >
      <div>
        <label htmlFor={id} className="mb-1 block font-medium">
          {words.injectText}
        </label>
        <textarea
          id={id}
          rows={4}
          data-first
          value={text}
          onChange={(event) => setText(event.target.value)}
          aria-describedby={`${id}-hint`}
          className="block w-full rounded-md border border-line-strong bg-surface px-3 py-2"
        />
        <p id={`${id}-hint`} className="text-[0.87rem] text-soft">
          {words.injectHint}
        </p>
      </div>
      <div className="flex flex-wrap items-end gap-4">
        <label className="flex flex-col gap-1">
          {words.injectTo}
          <input
            value={to}
            onChange={(event) => setTo(event.target.value)}
            className="rounded-md border border-line-strong bg-surface px-3 py-1.5"
          />
        </label>
        <label className="flex items-center gap-2 py-1.5">
          <input type="checkbox" checked={children} onChange={(event) => setChildren(event.target.checked)} />
          {words.injectChildren}
        </label>
      </div>
    </ActDialog>
  );
}
