import { type ComponentProps, type ReactNode, useId } from "react";

const BOX =
  "w-full rounded-md border border-line-strong/70 bg-surface px-3 py-1.5 min-h-9 placeholder:text-faint aria-invalid:border-bad";

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with it, if anything. */
  readonly problem?: string | undefined;
  readonly className?: string;
}

function Framed({
  label,
  hint,
  problem,
  className = "",
  children,
}: FieldProps & { readonly children: (id: string, described: string | undefined) => ReactNode }) {
  const id = useId();
  const note = problem ?? hint;
  return (
    <div className={`min-w-0 ${className}`}>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children(id, note === undefined ? undefined : `${id}-note`)}
      {note === undefined ? null : (
        <p
          id={`${id}-note`}
          className={`mt-1 text-[0.87rem] ${problem === undefined ? "text-soft" : "text-bad"}`}
        >
          {note}
        </p>
      )}
    </div>
  );
}

type Named = "label" | "hint" | "problem" | "className";

export function TextField({
  label,
  hint,
  problem,
  className,
  ...rest
}: FieldProps & Omit<ComponentProps<"input">, Named>) {
  return (
    <Framed label={label} hint={hint} problem={problem} {...(className === undefined ? {} : { className })}>
      {(id, described) => (
        <input
          autoComplete="off"
          {...rest}
          id={id}
          aria-describedby={described}
          aria-invalid={problem === undefined ? undefined : true}
          className={BOX}
        />
      )}
    </Framed>
  );
}

export function AreaField({
  label,
  hint,
  problem,
  className,
  ...rest
}: FieldProps & Omit<ComponentProps<"textarea">, Named>) {
  return (
    <Framed label={label} hint={hint} problem={problem} {...(className === undefined ? {} : { className })}>
      {(id, described) => (
        <textarea
          rows={4}
          spellCheck={false}
          {...rest}
          id={id}
          aria-describedby={described}
          aria-invalid={problem === undefined ? undefined : true}
          className={`${BOX} font-mono text-[0.87rem]`}
        />
      )}
    </Framed>
  );
}

/** What a text field suggests. */
export function Suggestions({ id, names }: { readonly id: string; readonly names: readonly string[] }) {
  return (
    <datalist id={id}>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </datalist>
  );
}

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly name: string;
}

export function SelectField<Value extends string>({
  label,
  hint,
  className,
  value,
  choices,
  onChange,
}: FieldProps & {
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <Framed label={label} hint={hint} {...(className === undefined ? {} : { className })}>
      {(id, described) => (
        <select
          id={id}
          aria-describedby={described}
          value={value}
          onChange={(event) => {
            const chosen = choices.find((one) => one.value === event.target.value);
            if (chosen) onChange(chosen.value);
          }}
          className={BOX}
        >
          {choices.map((one) => (
            <option key={one.value} value={one.value}>
              {one.name}
            </option>
          ))}
        </select>
      )}
    </Framed>
  );
}

/** A few choices side by side, one of which holds. */
export function Segments<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <fieldset className="inline-flex flex-wrap rounded-md border border-line bg-sunken p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map((one) => (
        <button
          key={one.value}
          type="button"
          aria-pressed={one.value === value}
          onClick={() => onChange(one.value)}
          className={`rounded px-2.5 py-1 text-[0.9rem] ${one.value === value ? "bg-surface font-medium shadow-sm" : "text-soft hover:text-ink"}`}
        >
          {one.name}
        </button>
      ))}
    </fieldset>
  );
}
