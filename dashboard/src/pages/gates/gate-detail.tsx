import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { answerCommand } from "../../acts/answer-command.ts";
import { answerFrom, GateFields, GateShow, NO_ANSWER } from "../../acts/gate-form.tsx";
import { Meanwhile } from "../../acts/meanwhile.tsx";
import { ReasonField } from "../../acts/reason-field.tsx";
import { type SeenGate, useSeenGate } from "../../acts/use-seen-gate.ts";
import { type AnswerOf, client } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { Since, When } from "../../ui/time.tsx";
import type { ListedGate } from "./gates.tsx";

const { gates: words } = TEXT;

/** One decision: what is asked, by whom it may be answered, and the answer. */
export function GateDetail({ gate, onNext }: { readonly gate: ListedGate; readonly onNext: () => void }) {
  const { may } = useSession();
  const mayAnswer = may("gates:answer");
  const use = useSeenGate(gate.runId, gate.gate, mayAnswer);
  const { data: status } = useApi("getRun", { run: gate.runId });
  return (
    <article aria-label={gate.gate} className="min-w-0 rounded-lg border border-line bg-surface">
      <header className="border-b border-line px-5 py-3.5">
        <h2 className="text-lg font-semibold break-words">{gate.gate}</h2>
        <p className="text-soft">
          <Link href={`/r/${gate.runId}`} className="font-mono text-busy underline-offset-2 hover:underline">
            {gate.runId}
          </Link>
          {status ? ` · ${status.run.workflow}` : null}
        </p>
      </header>
      <div className="flex flex-col gap-5 px-5 py-4">
        <Facts gate={gate} status={status} />
        {mayAnswer ? (
          <Question gate={gate} use={use} seq={status?.run.seq ?? 0} onNext={onNext} />
        ) : (
          <p className="text-soft">{words.needs}</p>
        )}
      </div>
    </article>
  );
}

function Facts({
  gate,
  status,
}: {
  readonly gate: ListedGate;
  readonly status: AnswerOf<"getRun"> | undefined;
}) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.waits, <Since key="since" at={gate.since} />],
    [words.expires, gate.until === null ? words.never : <When key="until" at={gate.until} />],
    [words.who, gate.fourEyes ? words.whoFourEyes : words.whoAny],
    ...(status ? [[words.progress, words.done(status.run.stepsDone)] as const] : []),
  ];
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-[0.82rem] text-soft">{name}</dt>
          <dd className="break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Question({
  gate,
  use,
  seq,
  onNext,
}: {
  readonly gate: ListedGate;
  readonly use: SeenGate;
  readonly seq: number;
  readonly onNext: () => void;
}) {
  const { seen, isOther, isClosed, error, look } = use;
  const [opened] = useState(seq);
  if (isClosed && !seen) return <ProblemView error={error} />;
  if (!seen)
    return error ? (
      <ProblemView error={error} retry={look} />
    ) : (
      <p className="text-soft">{TEXT.page.loading}</p>
    );
  return (
    <>
      <section aria-label={words.asked}>
        <GateShow show={seen.show} />
      </section>
      {isOther ? (
        <div
          role="alert"
          className="flex flex-wrap items-center gap-3 rounded-md bg-waits-soft px-3 py-2 text-waits"
        >
          {words.changed}
          <Button small onClick={look}>
            {words.again}
          </Button>
        </div>
      ) : null}
      {isClosed ? (
        <div role="alert" className="flex flex-col gap-2">
          <p className="font-medium text-waits">{words.closed}</p>
          <Meanwhile run={gate.runId} seq={opened} />
          <Button className="self-start" onClick={onNext}>
            {words.next}
          </Button>
        </div>
      ) : (
        <AnswerForm gate={gate} use={use} onNext={onNext} opened={opened} />
      )}
    </>
  );
}

function AnswerForm({
  gate,
  use: { seen, look },
  opened,
  onNext,
}: {
  readonly gate: ListedGate;
  readonly use: SeenGate;
  readonly opened: number;
  readonly onNext: () => void;
}) {
  const { actor } = useSession();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(NO_ANSWER);
  const [reason, setReason] = useState("");
  const answer = seen && answerFrom(seen, draft);
  const send = useMutation({
    mutationFn: () =>
      client.answerGate({ run: gate.runId, gate: gate.gate, reason: reason.trim(), choice: "", ...answer }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["listGates"] });
      onNext();
    },
  });
  if (!seen) return null;
  const isReady = answer !== null && reason.trim().length >= 10 && !send.isPending;
  return (
    <form
      className="flex flex-col gap-4 border-t border-line pt-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) send.mutate();
      }}
    >
      <GateFields gate={seen} draft={draft} onChange={setDraft} />
      <ReasonField value={reason} onChange={setReason} reasons={words.reasons} />
      <div>
        <p className="mb-1 text-[0.87rem] text-soft">{TEXT.dialog.cli}</p>
        <CommandLine command={answerCommand(gate.runId, gate.gate, draft, reason.trim())} />
      </div>
      {send.isError ? (
        <div className="flex flex-col gap-3">
          <ProblemView error={send.error} />
          <Meanwhile run={gate.runId} seq={opened} />
          <Button className="self-start" onClick={() => (send.reset(), look())}>
            {words.again}
          </Button>
        </div>
      ) : null}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-[0.87rem] text-soft">{TEXT.dialog.recorded(actor)}</p>
        <Button type="submit" look="primary" disabled={!isReady}>
          {draft.choice === "" ? words.answer : words.answerWith(draft.choice)}
        </Button>
      </div>
    </form>
  );
}
