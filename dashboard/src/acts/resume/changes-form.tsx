import { TEXT } from "../../text.ts";
import { JsonField } from "../json-field.tsx";
import type { Changes } from "./changes.ts";

const { plan: words } = TEXT;

/** What a resume may bring along. Every change is planned anew. */
export function ChangesForm({
  changes,
  isOpen,
  isFailed,
  onChange,
}: {
  readonly changes: Changes;
  readonly isOpen: boolean;
  /** The run has failed: its failed steps can be tried again. */
  readonly isFailed: boolean;
  readonly onChange: (changes: Changes) => void;
}) {
  const put = (part: Partial<Changes>): void => onChange({ ...changes, ...part });
  return (
    <details className="border-t border-line pt-2.5" open={isOpen}>
      <summary className="font-medium">{words.withChanges}</summary>
      <div className="mt-3 grid gap-4 sm:grid-cols-2">
        <div className="flex flex-col gap-2">
          {isFailed ? (
            <Check
              label={words.retryFailed}
              value={changes.retryFailed}
              onChange={(retryFailed) => put({ retryFailed })}
            />
          ) : null}
          <Check label={words.now} value={changes.now} onChange={(now) => put({ now })} />
          <label className="flex flex-col gap-1">
            {words.budget}
            <input
              inputMode="decimal"
              value={changes.budgetUsd}
              onChange={(event) => put({ budgetUsd: event.target.value })}
              className="w-40 rounded-md border border-line-strong bg-surface px-3 py-1.5 tabular-nums"
            />
          </label>
        </div>
        <label className="flex flex-col gap-1">
          {words.inject}
          <textarea
            rows={4}
            value={changes.inject}
            onChange={(event) => put({ inject: event.target.value })}
            className="rounded-md border border-line-strong bg-surface px-3 py-1.5"
          />
        </label>
        <div className="sm:col-span-2">
          <JsonField
            label={words.set}
            hint={words.setHint}
            value={changes.set}
            onChange={(set) => put({ set })}
            rows={5}
          />
        </div>
      </div>
    </details>
  );
}

const Check = ({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}) => (
  <label className="flex items-center gap-2">
    <input type="checkbox" checked={value} onChange={(event) => onChange(event.target.checked)} />
    {label}
  </label>
);
