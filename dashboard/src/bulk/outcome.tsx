import { CircleCheck, OctagonX } from "lucide-react";
import { Link } from "wouter";
import { TEXT } from "../text.ts";
import { Button } from "../ui/button.tsx";
import { Modal } from "../ui/modal.tsx";
import { countText } from "../ui/numbers.ts";
import { type BulkAct, groupedRefusals, type Outcome, type Refusal } from "./bulk.ts";

const T = TEXT.bulk;

/** How far it is, while it is going on. */
export function Progress({ outcome: { total, done, refused } }: { readonly outcome: Outcome }) {
  const finished = done.length + refused.length;
  return (
    <div>
      <p className="mb-1 tabular-nums" aria-live="polite">
        {T.progress(countText(finished), countText(total))}
      </p>
      <div className="h-2 overflow-hidden rounded-full bg-sunken">
        <div className="h-full bg-accent" style={{ width: `${(100 * finished) / Math.max(1, total)}%` }} />
      </div>
      <p className="mt-1 text-[0.87rem] text-soft">{T.stays}</p>
    </div>
  );
}

/** Why runs are left out, equal reasons together. */
export function Refusals({ refused }: { readonly refused: readonly Refusal[] }) {
  if (refused.length === 0) return null;
  return (
    <ul className="max-h-40 divide-y divide-line overflow-y-auto rounded-md border border-line text-[0.93rem]">
      {groupedRefusals(refused).map(({ what, code, runs }) => (
        <li key={`${code} ${what}`} className="flex items-baseline gap-2 px-3 py-1.5">
          <span className="min-w-0 flex-1 break-words">{what}</span>
          <span className="shrink-0 text-soft tabular-nums">{runs.length > 1 ? `× ${runs.length}` : ""}</span>
          <span className="shrink-0 font-mono text-[0.82rem] text-soft">{code}</span>
        </li>
      ))}
    </ul>
  );
}

/** What came of it, run by run. */
export function OutcomeView({
  act,
  outcome: { total, done, refused },
  onClose,
}: {
  readonly act: BulkAct;
  readonly outcome: Outcome;
  readonly onClose: () => void;
}) {
  const left = total - done.length - refused.length;
  return (
    <Modal title={T.over[act](done.length)} onClose={onClose}>
      <div className="flex flex-col gap-4">
        <output className="block">
          {[
            T.over[act](done.length),
            ...(refused.length > 0 ? [T.refused(refused.length)] : []),
            ...(left > 0 ? [T.stopped(left)] : []),
          ].join(" ")}
        </output>
        <ul className="max-h-72 divide-y divide-line overflow-y-auto rounded-md border border-line text-[0.93rem]">
          {refused.map(({ run, what }) => (
            <li key={run} className="flex items-start gap-2 px-3 py-1.5">
              <OctagonX aria-label={T.isRefused} className="mt-0.5 size-4 shrink-0 text-bad" />
              <RunLink run={run} />
              <span className="min-w-0 break-words text-soft">{what}</span>
            </li>
          ))}
          {done.map((run) => (
            <li key={run} className="flex items-center gap-2 px-3 py-1.5">
              <CircleCheck aria-label={T.isDone} className="size-4 shrink-0 text-good" />
              <RunLink run={run} />
            </li>
          ))}
        </ul>
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            {T.close}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

const RunLink = ({ run }: { readonly run: string }) => (
  <Link href={`/r/${run}`} className="font-mono break-all hover:underline">
    {run}
  </Link>
);
