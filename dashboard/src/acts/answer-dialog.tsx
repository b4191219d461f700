import { useState } from "react";
import { client } from "../api/client.ts";
import { TEXT } from "../text.ts";
import { ProblemView } from "../ui/problem.tsx";
import { ActDialog } from "./act-dialog.tsx";
import { answerCommand } from "./answer-command.ts";
import { answerFrom, GateFields, GateShow, NO_ANSWER } from "./gate-form.tsx";
import type { ActedRun } from "./run-acts.ts";
import { useSeenGate } from "./use-seen-gate.ts";

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
  const { seen, isOther, error, look } = useSeenGate(run.id, gate);
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
        cli: (reason) => answerCommand(run.id, gate, draft, reason),
        permission: "gates:answer",
        isReady: answer !== null,
        perform: (reason) => client.answerGate({ run: run.id, gate, reason, choice: "", ...answer }),
        about: { run: run.id, seq: run.seq },
        again: { name: words.again, act: look },
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
          {isOther ? <p className="text-waits">{words.changed}</p> : null}
          <GateFields gate={seen} draft={draft} onChange={setDraft} />
        </>
      ) : error ? (
        <ProblemView error={error} />
      ) : (
        <p className="text-soft">{TEXT.page.loading}</p>
      )}
    </ActDialog>
  );
}
