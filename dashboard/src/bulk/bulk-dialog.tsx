import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { type Act, command } from "../acts/act.ts";
import { ActDialog } from "../acts/act-dialog.tsx";
import { client } from "../api/client.ts";
import { TEXT } from "../text.ts";
import { Button } from "../ui/button.tsx";
import { Modal } from "../ui/modal.tsx";
import { costText } from "../ui/numbers.ts";
import { ProblemView } from "../ui/problem.tsx";
import { spanText } from "../ui/time.tsx";
import { allIds, type BulkAct, durationOf, inBulk, type Outcome, PACES } from "./bulk.ts";
import { OutcomeView, Progress, Refusals } from "./outcome.tsx";

const T = TEXT.bulk;

/** Runs by name, or all of a list, which are looked up first. */
export type Chosen = readonly string[] | Parameters<typeof client.listRuns>[0];

const isNamed = (chosen: Chosen): chosen is readonly string[] => Array.isArray(chosen);

const idsOf = (chosen: Chosen): Promise<readonly string[]> =>
  isNamed(chosen)
    ? Promise.resolve(chosen)
    : allIds((cursor) =>
        client.listRuns({ ...chosen, limit: 200, ...(cursor === undefined ? {} : { cursor }) }),
      );

export interface BulkDialogProps {
  readonly act: BulkAct;
  readonly chosen: Chosen;
  readonly onClose: () => void;
}

/** Finds the runs, asks what would happen, and says so; then acts at the chosen pace and shows what came of it. */
export function BulkDialog({ act, chosen, onClose }: BulkDialogProps) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  // What is acted on is fixed when the dialog opens, whatever the list does meanwhile.
  const [fixed] = useState(chosen);
  const foreseen = useQuery({
    queryKey: ["bulk", act, fixed],
    queryFn: async () => {
      const ids = await idsOf(fixed);
      const seen = await inBulk(ids, (runs) =>
        client.actOnRuns({ act, runs: [...runs], reason: T.look, dryRun: true }),
      );
      return { ids, seen };
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (outcome) return <OutcomeView act={act} outcome={outcome} onClose={onClose} />;
  if (foreseen.data?.seen.done.length === 0)
    return (
      <Modal
        title={T.title[act]()}
        onClose={onClose}
        foot={
          <div className="flex justify-end">
            <Button onClick={onClose}>{TEXT.dialog.cancel}</Button>
          </div>
        }
      >
        <div className="flex flex-col gap-4">
          <p>{T.none[act]}</p>
          <Foreseen seen={foreseen.data.seen} />
        </div>
      </Modal>
    );
  if (foreseen.data) return <Decide act={act} {...foreseen.data} onClose={onClose} onOutcome={setOutcome} />;
  return (
    <Modal title={T.title[act]()} onClose={onClose}>
      {foreseen.isError ? (
        <ProblemView error={foreseen.error} retry={() => void foreseen.refetch()} />
      ) : (
        <p className="text-soft">{T.looking}</p>
      )}
    </Modal>
  );
}

interface DecideProps {
  readonly act: BulkAct;
  readonly seen: Outcome;
  readonly onClose: () => void;
  readonly onOutcome: (outcome: Outcome) => void;
}

function Decide({ act, seen, onClose, onOutcome }: DecideProps) {
  const [paceId, setPaceId] = useState<string>(PACES[0].id);
  const [isMore, setMore] = useState(false);
  const [progress, setProgress] = useState<Outcome | null>(null);
  const abort = useRef<AbortController | null>(null);
  const isOver = useRef(false);
  useEffect(() => () => abort.current?.abort(), []);
  const pace = PACES.find(({ id }) => id === paceId) ?? PACES[0];
  const count = seen.done.length;
  const whole = useMemo<Act>(() => {
    const more = isMore ? (act === "cancel" ? { compensate: true } : { retryFailed: true }) : {};
    const perform = (reason: string): Promise<Outcome> => {
      abort.current = new AbortController();
      return inBulk(seen.done, (runs) => client.actOnRuns({ act, runs: [...runs], reason, ...more }), {
        pace,
        signal: abort.current.signal,
        onProgress: setProgress,
      });
    };
    const flag = isMore ? [act === "cancel" ? "--compensate" : "--retry-failed"] : [];
    return {
      title: T.title[act](count),
      effect: T.effect[act],
      verb: T.verb[act](count),
      permission: "runs:act",
      reasons: T.reasons[act],
      isDangerous: act === "cancel",
      cli: (reason) => {
        const line = command([act, seen.done[0] ?? "", ...flag], reason);
        return count > 1 ? `${line}   # ${T.others(count - 1)}` : line;
      },
      perform,
    };
  }, [act, seen, count, pace, isMore]);
  const id = useId();
  return (
    <ActDialog
      act={whole}
      onClose={() => {
        // The dialog closes when the act is over; what came of it is then shown instead.
        if (!isOver.current) onClose();
      }}
      onDone={(answer) => {
        isOver.current = true;
        onOutcome(answer as Outcome);
      }}
    >
      <Foreseen seen={seen} />
      {act === "pause" ? null : (
        <label className="flex items-start gap-2">
          <input
            type="checkbox"
            checked={isMore}
            onChange={(event) => setMore(event.target.checked)}
            className="mt-1 size-4 accent-accent"
          />
          {T.more[act]}
        </label>
      )}
      {count < 2 ? null : (
        <div className="flex flex-wrap items-center gap-2">
          <label htmlFor={id} className="font-medium">
            {T.pace}
          </label>
          <select
            id={id}
            value={paceId}
            onChange={(event) => setPaceId(event.target.value)}
            className="rounded-md border border-line-strong bg-surface px-2 py-1"
          >
            {PACES.map((one) => (
              <option key={one.id} value={one.id}>
                {T.paces[one.id]}
              </option>
            ))}
          </select>
          {durationOf(count, pace) > 0 ? (
            <span className="text-soft">{T.takes(spanText(durationOf(count, pace)))}</span>
          ) : null}
        </div>
      )}
      {progress ? <Progress outcome={progress} /> : null}
    </ActDialog>
  );
}

function Foreseen({ seen: { done, refused, usage } }: { readonly seen: Outcome }) {
  return (
    <div className="flex flex-col gap-2">
      <dl className="grid grid-cols-3 gap-3">
        <Figure name={T.will}>{done.length}</Figure>
        <Figure name={T.left}>{refused.length}</Figure>
        <Figure name={T.spent}>{costText(usage)}</Figure>
      </dl>
      <Refusals refused={refused} />
    </div>
  );
}

const Figure = ({ name, children }: { readonly name: string; readonly children: string | number }) => (
  <div className="flex flex-col-reverse justify-end border-l-2 border-line pl-3">
    <dt className="text-[0.87rem] text-soft">{name}</dt>
    <dd className="text-xl font-semibold tabular-nums">{children}</dd>
  </div>
);
