import { TEXT } from "../../text.ts";
import { Badge } from "../../ui/badge.tsx";
import { useNow, When } from "../../ui/time.tsx";
import { leavesOf } from "./outline/rows.ts";
import type { Node } from "./outline/tree.ts";
import { lookOf } from "./states.tsx";

const SHOWN = 5;

const movedAt = ({ step }: Node): number => {
  const last = step?.attempts.at(-1);
  return last?.endedAt ?? last?.startedAt ?? 0;
};

/** The steps that moved last: what somebody looks for on a phone. */
export function LastSteps({
  tree,
  onSelect,
}: {
  readonly tree: readonly Node[];
  readonly onSelect: (key: string) => void;
}) {
  const now = useNow();
  const steps = [...leavesOf(tree)].toSorted((a, b) => movedAt(b) - movedAt(a)).slice(0, SHOWN);
  if (steps.length === 0) return null;
  return (
    <section aria-labelledby="last-steps" className="mt-4 sm:hidden">
      <h2 id="last-steps" className="mb-1 text-[0.87rem] text-soft">
        {TEXT.run.last}
      </h2>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {steps.map((node) => {
          const look = lookOf(node, now);
          return (
            <li key={node.key}>
              <button
                type="button"
                onClick={() => onSelect(node.key)}
                className="flex min-h-11 w-full items-center gap-2 px-3 py-1.5 text-left"
              >
                <span className="min-w-0 flex-1 truncate">{node.key}</span>
                <span className="text-[0.87rem] text-soft">
                  <When at={movedAt(node)} />
                </span>
                <Badge tone={look.tone}>{look.word}</Badge>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
