import { useMemo } from "react";
import { useLocation } from "wouter";
import { useSession } from "../session.tsx";
import { later } from "../ui/later.tsx";
import { useAct, useDialog } from "./provider.tsx";
import {
  type ActedRun,
  cancelAct,
  deleteAct,
  exportAct,
  migrateAct,
  pauseAct,
  pinAct,
  retryAct,
} from "./run-acts.ts";
import { type OfferedVerb, type Verb, verbsOf } from "./verbs.ts";

const ResumeDialog = later(() => import("./resume/resume-dialog.tsx"));
const ForkDialog = later(() => import("./fork/fork-dialog.tsx"));
const AnswerDialog = later(() => import("./answer-dialog.tsx"));
const ResolveDialog = later(() => import("./resolve/resolve-dialog.tsx"));
const InjectDialog = later(() => import("./inject-dialog.tsx"));
const SignalDialog = later(() => import("./signal-dialog.tsx"));

export interface RunVerb extends OfferedVerb {
  readonly open: () => void;
}

/** Opens the dialog of a verb for a run, as it is seen now. */
export function useVerb(): (verb: Verb, run: ActedRun) => void {
  const act = useAct();
  const show = useDialog();
  const [, go] = useLocation();
  return useMemo(() => {
    const openers: Readonly<Record<Verb, (run: ActedRun) => void>> = {
      answer: (run) => show((close) => <AnswerDialog run={run} onClose={close} />),
      resolve: (run) => show((close) => <ResolveDialog run={run} onClose={close} />),
      budget: (run) => show((close) => <ResumeDialog run={run} isBudget onClose={close} />),
      resume: (run) => show((close) => <ResumeDialog run={run} onClose={close} />),
      fork: (run) => show((close) => <ForkDialog run={run.id} onClose={close} />),
      inject: (run) => show((close) => <InjectDialog run={run} onClose={close} />),
      signal: (run) => show((close) => <SignalDialog run={run} onClose={close} />),
      migrate: (run) => act(migrateAct(run)),
      retry: (run) => act(retryAct(run, run.waiting.find(({ kind }) => kind === "retry")?.step ?? "")),
      pause: (run) => act(pauseAct(run)),
      cancel: (run) => act(cancelAct(run)),
      undo: (run) => act(cancelAct(run, true)),
      pin: (run) => act(pinAct(run)),
      unpin: (run) => act(pinAct(run)),
      export: (run) => act(exportAct(run)),
      delete: (run) => act(deleteAct(run), () => go("/runs")),
    };
    return (verb, run) => openers[verb](run);
  }, [act, show, go]);
}

/** What fits a run now, each with a way to open its dialog; the main one first. */
export function useRunActs(run: ActedRun): readonly RunVerb[] {
  const { may } = useSession();
  const open = useVerb();
  return verbsOf(run, may).map((offered) => ({ ...offered, open: () => open(offered.verb, run) }));
}
