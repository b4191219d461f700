import type { AnswerOf } from "../../../api/client.ts";
import { TEXT } from "../../../text.ts";
import { costText, countText } from "../../../ui/numbers.ts";
import { spanText, useNow, When } from "../../../ui/time.tsx";
import type { Step } from "../outline/tree.ts";
import { Fact, Part } from "./part.tsx";

/** An attempt as the outline tells it, or with its error and worker. */
type AnyAttempt = Step["attempts"][number] & Partial<AnswerOf<"getStep">["attempts"][number]>;

/** The attempts of a step as tabs; the newest one is open. */
export function Attempts({
  attempts,
  selected,
  onSelect,
}: {
  readonly attempts: readonly AnyAttempt[];
  readonly selected: number | null;
  readonly onSelect: (attempt: number) => void;
}) {
  const index = Math.max(
    0,
    selected === null ? attempts.length - 1 : attempts.findIndex(({ attempt }) => attempt === selected),
  );
  const attempt = attempts[index];
  if (!attempt) return null;
  return (
    <Part title={TEXT.inspector.attempts(attempts.length)}>
      {attempts.length > 1 ? (
        <div
          role="tablist"
          aria-label={TEXT.inspector.attempts(attempts.length)}
          className="mb-2 flex gap-1 overflow-x-auto"
        >
          {attempts.map((one, at) => (
            <button
              key={`${one.attempt}-${one.startedAt}`}
              type="button"
              role="tab"
              aria-selected={at === index}
              tabIndex={at === index ? 0 : -1}
              onClick={() => onSelect(one.attempt)}
              onKeyDown={({ key }) => {
                const to = { ArrowRight: index + 1, ArrowLeft: index - 1 }[key];
                const next = to === undefined ? undefined : attempts[to];
                if (next) onSelect(next.attempt);
              }}
              className={`rounded-md px-2.5 py-0.5 tabular-nums ${at === index ? "bg-accent-soft font-medium" : "text-soft hover:bg-sunken"}`}
            >
              {one.attempt}
              <span className="sr-only"> {TEXT.inspector.outcomes[one.outcome ?? "none"]}</span>
              <span
                aria-hidden
                className={`ml-1.5 inline-block size-2 rounded-full ${DOTS[one.outcome ?? "none"]}`}
              />
            </button>
          ))}
        </div>
      ) : null}
      <OneAttempt attempt={attempt} />
    </Part>
  );
}

const DOTS = { done: "bg-good", failed: "bg-bad", "in doubt": "bg-waits", none: "bg-busy" } as const;

function OneAttempt({ attempt }: { readonly attempt: AnyAttempt }) {
  const now = useNow();
  const { startedAt, endedAt, outcome, ms, usage, error, waitMs, owner } = attempt;
  const { facts } = TEXT.inspector;
  return (
    <dl className="grid grid-cols-[7.5rem_1fr] gap-x-3 gap-y-1">
      <Fact name={facts.outcome}>{TEXT.inspector.outcomes[outcome ?? "none"]}</Fact>
      <Fact name={facts.began}>
        <When at={startedAt} />
      </Fact>
      <Fact name={facts.took}>{spanText(ms ?? (endedAt ?? now) - startedAt)}</Fact>
      {usage === undefined ? null : (
        <Fact name={facts.used}>
          {TEXT.run.tokens(countText(usage.tokens))} · {costText(usage)}
          {usage.model === undefined ? null : ` · ${usage.model}`}
        </Fact>
      )}
      {waitMs === undefined ? null : <Fact name={facts.waited}>{spanText(waitMs)}</Fact>}
      {owner === undefined ? null : <Fact name={facts.worker}>{owner}</Fact>}
      {error === undefined ? null : (
        <Fact name={facts.error}>
          <span className="text-bad">
            {error.name}
            {error.code === undefined ? null : ` ${error.code}`}
            {error.message === undefined ? null : `: ${error.message}`}
          </span>
        </Fact>
      )}
    </dl>
  );
}
