import { useState } from "react";
import { client } from "../api/client.ts";
import { useApi } from "../api/use-api.ts";
import { TEXT } from "../text.ts";
import { Loaded } from "../ui/page.tsx";
import { command } from "./act.ts";
import { ActDialog } from "./act-dialog.tsx";
import { answerFrom, GateFields, GateShow, NO_ANSWER, type OpenGate } from "./gate-form.tsx";
import type { ActedRun } from "./run-acts.ts";

const { gates: words } = TEXT;

/** Answers a gate of a run: the one that is named, or the first that is open. */
export default function AnswerDialog({
  run,
  gate: named,
  onClose,
}: {
  readonly run: ActedRun;
  readonly gate?: string;
  readonly onClose: () => void;
}) {
  const open = run.waiting.flatMap(({ kind, step }) => (kind === "gate" ? [step] : []));
  const [gate, setGate] = useState(named ?? open[0] ?? "");
  const [draft, setDraft] = useState(NO_ANSWER);
  // What was shown when the dialog was opened stays: the answer is bound to it.
  const query = useApi("getGate", { run: run.id, gate });
  const [first, setFirst] = useState<OpenGate | null>(null);
  if (query.data && query.data.gate === gate && first?.gate !== gate) setFirst(query.data);
  const seen = first?.gate === gate ? first : null;
  const answer = seen && answerFrom(seen, draft);
  return (
    <ActDialog
      wide
      onClose={onClose}
      act={{
        title: words.title(gate),
        effect: words.effect(run.id),
        verb: draft.choice === "" ? words.answer : words.answerWith(draft.choice),
        reasons: words.reasons,
        cli: (reason) =>
          command(
            [
              "gate",
              "answer",
              `${run.id}:${gate}`,
              ...(draft.choice === "" ? [] : ["--choice", draft.choice]),
              ...(draft.data.trim() === "" ? [] : ["--data", draft.data]),
              ...(reason === "" ? [] : ["--comment", reason]),
            ],
            "",
          ),
        permission: "gates:answer",
        isReady: answer !== null,
        perform: (reason) => client.answerGate({ run: run.id, gate, reason, choice: "", ...answer }),
        about: { run: run.id, seq: run.seq },
        again: {
          name: words.again,
          act: () => void query.refetch().then(({ data }) => setFirst(data ?? null)),
        },
      }}
    >
      {open.length > 1 ? (
        <label className="flex items-center gap-2">
          {words.which}
          <select
            value={gate}
            onChange={(event) => {
              setGate(event.target.value);
              setDraft(NO_ANSWER);
            }}
            className="rounded-md border border-line-strong bg-surface px-2 py-1"
          >
            {open.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      ) : null}
      {seen ? (
        <>
          <GateShow show={seen.show} />
          {seen.fourEyes ? <p className="text-waits">{words.fourEyes}</p> : null}
          <GateFields gate={seen} draft={draft} onChange={setDraft} />
        </>
      ) : (
        <Loaded query={query}>{() => null}</Loaded>
      )}
    </ActDialog>
  );
}
