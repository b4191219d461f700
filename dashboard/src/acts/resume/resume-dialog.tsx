import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { ProblemView } from "../../ui/problem.tsx";
import { useLater } from "../../ui/use-later.ts";
import { command } from "../act.ts";
import { ActDialog } from "../act-dialog.tsx";
import { type ActedRun, aboutRun } from "../run-acts.ts";
import { type Changes, flagsOf, NO_CHANGES, sentOf } from "./changes.ts";
import { ChangesForm } from "./changes-form.tsx";
import { PlanView } from "./plan-view.tsx";

const { plan: words } = TEXT;

export interface ResumeDialogProps {
  readonly run: ActedRun;
  /** Opened because its budget is reached. */
  readonly isBudget?: boolean;
  readonly onClose: () => void;
}

/** Shows what a resume would do, and then does that and nothing else: the plan's token goes with it. */
export default function ResumeDialog({ run, isBudget = false, onClose }: ResumeDialogProps) {
  const [changes, setChanges] = useState<Changes>(NO_CHANGES);
  const [isBelow, setBelow] = useState(true);
  const settled = useLater(changes, 250);
  const sent = sentOf(settled);
  // Not asked for again when the run moves: what is shown is what is sent, or the server refuses it.
  const query = useQuery({
    queryKey: ["plan of a dialog", run.id, run.seq, sent],
    queryFn: ({ signal }) => client.planResume({ run: run.id, ...sent }, { signal }),
    enabled: sent !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: keepPreviousData,
  });
  const answer = query.data;
  const isCurrent = sent !== null && settled === changes && !query.isPlaceholderData && !query.isFetching;
  const plan = answer?.plan;
  const hasBelow = (plan?.children.length ?? 0) > 0;
  return (
    <ActDialog
      wide
      onClose={onClose}
      act={{
        title: words.title(run.id),
        effect: isBudget ? words.effectBudget : words.effect,
        verb: words.verb,
        reasons: words.reasons,
        cli: (reason) => command(["resume", run.id, ...flagsOf(changes)], reason),
        permission: "runs:act",
        isReady: isCurrent && plan !== undefined && (plan.blocked === null || !plan.code),
        perform: (reason) =>
          client.resumeRun({
            run: run.id,
            reason,
            ...sent,
            ...(hasBelow && isBelow ? { children: true } : {}),
            ...(answer ? { plan: answer.token } : {}),
          }),
        about: { ...aboutRun(run), ...(answer ? { seq: answer.seq } : {}) },
        again: { name: words.again, act: () => void query.refetch() },
      }}
    >
      {query.isError ? <ProblemView error={query.error} retry={() => void query.refetch()} /> : null}
      <div
        aria-live="polite"
        aria-busy={query.isFetching}
        className={isCurrent || !answer ? "" : "opacity-60"}
      >
        {answer ? (
          <PlanView {...answer} />
        ) : query.isError ? null : (
          <p className="text-soft">{words.planning}</p>
        )}
      </div>
      {hasBelow ? (
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={isBelow} onChange={(event) => setBelow(event.target.checked)} />
          {words.below}
        </label>
      ) : null}
      <ChangesForm
        changes={changes}
        isOpen={isBudget}
        isFailed={run.status === "failed"}
        onChange={setChanges}
      />
    </ActDialog>
  );
}
