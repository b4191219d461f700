import { CircleHelp } from "lucide-react";
import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { countText } from "../../ui/numbers.ts";
import { hasPart, partsOf, STATUSES, textOf, toggled, valueOf, withValue } from "./filter.ts";

const T = TEXT.runs;
type Counts = AnswerOf<"countRuns">;

interface FacetProps {
  readonly text: string;
  readonly onText: (text: string) => void;
}

/** Every status with its count. A click shows only these, another one all; Alt leaves them out. */
export function StatusFacet({ text, onText, counts }: FacetProps & { readonly counts: Counts | undefined }) {
  const parts = partsOf(text);
  const isAny = !parts.some(({ key }) => key === "status");
  const others = textOf(parts.filter(({ key }) => key !== "status"));
  return (
    <fieldset aria-label={T.status} className="-mx-1 flex min-w-0 gap-1 overflow-x-auto px-1 py-1">
      <Chip isOn={isAny} onClick={() => onText(others)} count={counts?.total} name={T.all} />
      {STATUSES.map((value) => {
        const part = { key: "status", value, isNot: false };
        const isOut = hasPart(text, { ...part, isNot: true });
        return (
          <Chip
            key={value}
            isOn={hasPart(text, part)}
            isOut={isOut}
            name={T.statuses[value]}
            count={counts?.byStatus[value]}
            onClick={(isNot) => onText(toggled(text, { ...part, isNot: isOut || isNot }))}
          />
        );
      })}
    </fieldset>
  );
}

function Chip({
  isOn,
  isOut = false,
  name,
  count,
  onClick,
}: {
  readonly isOn: boolean;
  readonly isOut?: boolean;
  readonly name: string;
  readonly count: number | undefined;
  readonly onClick: (isNot: boolean) => void;
}) {
  const look = isOn
    ? "border-accent bg-accent-soft font-medium text-ink"
    : isOut
      ? "border-line text-faint line-through"
      : "border-transparent text-soft hover:bg-sunken hover:text-ink";
  return (
    <button
      type="button"
      aria-pressed={isOn}
      title={T.exclude}
      onClick={(event) => onClick(event.altKey)}
      className={`inline-flex items-center gap-1.5 rounded-full border px-2.5 py-0.5 whitespace-nowrap ${look}`}
    >
      {name}
      <span className="text-[0.87rem] text-faint tabular-nums">
        {count === undefined ? "" : countText(count)}
      </span>
    </button>
  );
}

/** One value of a key, chosen from a list. A value that isn't in the list is shown as well. */
export function Choice({
  text,
  onText,
  of,
  name,
  any,
  options,
}: FacetProps & {
  readonly of: string;
  readonly name: string;
  readonly any: string;
  readonly options: readonly (readonly [value: string, text: string])[];
}) {
  const value = valueOf(text, of);
  if (options.length === 0 && value === "") return null;
  const isListed = value === "" || options.some(([one]) => one === value);
  return (
    <select
      aria-label={name}
      value={value}
      onChange={(event) => onText(withValue(text, of, event.target.value))}
      className={`min-h-9 max-w-48 rounded-md border bg-surface px-2 py-1.5 ${value === "" ? "border-line-strong/60 text-soft" : "border-accent font-medium"}`}
    >
      <option value="">{any}</option>
      {isListed ? null : <option value={value}>{value}</option>}
      {options.map(([one, said]) => (
        <option key={one} value={one}>
          {said}
        </option>
      ))}
    </select>
  );
}

/** What can be typed into the search. */
export function SyntaxHelp() {
  return (
    <details className="group relative">
      <summary
        aria-label={T.help}
        title={T.help}
        className="flex size-9 list-none items-center justify-center rounded-md text-faint hover:bg-sunken hover:text-ink"
      >
        <CircleHelp aria-hidden className="size-4" />
      </summary>
      <dl className="absolute right-0 z-20 mt-1 grid w-[min(90vw,34rem)] grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 rounded-lg border border-line bg-raised p-4 shadow-lg">
        {T.syntax.map(([typed, meaning]) => (
          <div key={typed} className="contents">
            <dt className="font-mono text-[0.87rem]">{typed}</dt>
            <dd className="text-soft">{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
