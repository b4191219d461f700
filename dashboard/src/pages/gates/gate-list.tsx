import { Hourglass, Users } from "lucide-react";
import { TEXT } from "../../text.ts";
import { Since, When } from "../../ui/time.tsx";
import { type ListedGate, nameOf } from "./gates.tsx";

const { gates: words } = TEXT;

/** The open gates, the longest wait first. */
export function GateList({
  gates,
  chosen,
  onChoose,
}: {
  readonly gates: readonly ListedGate[];
  readonly chosen: ListedGate | undefined;
  readonly onChoose: (gate: ListedGate) => void;
}) {
  return (
    <nav
      aria-label={words.list}
      className="self-start overflow-hidden rounded-lg border border-line bg-surface max-lg:max-h-64 max-lg:overflow-y-auto"
    >
      <ul className="divide-y divide-line">
        {gates.map((gate) => {
          const isHere = chosen !== undefined && nameOf(gate) === nameOf(chosen);
          return (
            <li key={nameOf(gate)}>
              <button
                type="button"
                aria-label={`${gate.gate}, ${gate.runId}`}
                aria-current={isHere ? "true" : undefined}
                onClick={() => onChoose(gate)}
                className={`flex w-full flex-col gap-0.5 border-l-2 px-4 py-2.5 text-left ${isHere ? "border-accent bg-accent-soft" : "border-transparent hover:bg-sunken"}`}
              >
                <span className="flex w-full items-baseline justify-between gap-3">
                  <span className="min-w-0 truncate font-medium">{gate.gate}</span>
                  <span className="shrink-0 text-[0.87rem] text-soft">
                    <Since at={gate.since} />
                  </span>
                </span>
                <span className="flex w-full items-center justify-between gap-3 text-[0.87rem] text-soft">
                  <span className="min-w-0 truncate font-mono">{gate.runId}</span>
                  <span className="flex shrink-0 items-center gap-2">
                    {gate.fourEyes ? (
                      <span className="inline-flex items-center gap-1">
                        <Users aria-hidden className="size-3.5" />
                        {words.fourEyesShort}
                      </span>
                    ) : null}
                    {gate.until === null ? null : (
                      <span className="inline-flex items-center gap-1 text-waits">
                        <Hourglass aria-hidden className="size-3.5" />
                        <When at={gate.until} />
                      </span>
                    )}
                  </span>
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
