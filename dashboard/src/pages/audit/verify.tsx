import { useMutation } from "@tanstack/react-query";
import { ShieldCheck, ShieldX } from "lucide-react";
import { Link } from "wouter";
import { type AnswerOf, client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { Card } from "../../ui/page.tsx";
import { ProblemView } from "../../ui/problem.tsx";

const T = TEXT.audit;

/** Checks all runs and says what it found; the record is never just said to be intact. */
export function Verify() {
  const verify = useMutation({ mutationFn: () => client.verifyStore({}) });
  return (
    <Card title={T.verify}>
      <div className="flex flex-col gap-3 p-4">
        <div>
          <Button look="primary" disabled={verify.isPending} onClick={() => verify.mutate()}>
            <ShieldCheck aria-hidden className="size-4" />
            {T.verify}
          </Button>
        </div>
        <output className="block">
          {verify.isPending ? <p className="text-soft">{T.verifying}</p> : null}
          {verify.data && !verify.isPending ? <Verdict verdict={verify.data} /> : null}
        </output>
        {verify.isError ? <ProblemView error={verify.error} /> : null}
        <p className="text-[0.87rem] text-soft">{T.limit}</p>
        <div>
          <p className="mb-1 text-[0.87rem] text-soft">{T.offline}</p>
          <CommandLine command={T.offlineCommand} />
        </div>
      </div>
    </Card>
  );
}

function Verdict({ verdict }: { readonly verdict: AnswerOf<"verifyStore"> }) {
  const { ok, runs, damaged, store, unchecked } = verdict;
  const [first] = damaged;
  const [problem] = first?.problems ?? [];
  return (
    <div className={`rounded-md p-3 ${ok ? "bg-good-soft text-good" : "bg-bad-soft text-bad"}`}>
      <p className="flex items-start gap-2 font-medium">
        {ok ? (
          <ShieldCheck aria-hidden className="mt-0.5 size-4 shrink-0" />
        ) : (
          <ShieldX aria-hidden className="mt-0.5 size-4 shrink-0" />
        )}
        {ok ? T.intact(runs) : T.damaged(damaged.length, runs)}
      </p>
      {first ? (
        <div className="mt-2 text-ink">
          <p className="font-medium">{T.first}</p>
          <p>
            <Link href={`/r/${first.runId}`} className="font-mono underline">
              {first.runId}
            </Link>{" "}
            {problem ? `${T.at(problem.seq)}: ${problem.problem}` : null}
          </p>
          {first.lastGood === null ? null : <p className="text-soft">{T.lastGood(first.lastGood)}</p>}
        </div>
      ) : null}
      {store.map((line) => (
        <p key={line} className="mt-1 text-ink">
          {line}
        </p>
      ))}
      {unchecked.length > 0 ? <p className="mt-1 text-ink">{T.unchecked(unchecked.length)}</p> : null}
    </div>
  );
}
