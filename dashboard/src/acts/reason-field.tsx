import { useId } from "react";
import { TEXT } from "../text.ts";
import { Button } from "../ui/button.tsx";

/** Why somebody does something: asked for by every act and every look at values. */
export function ReasonField({
  value,
  onChange,
  reasons = [],
  form,
}: {
  readonly value: string;
  readonly onChange: (reason: string) => void;
  /** Reasons that are often given. */
  readonly reasons?: readonly string[];
  readonly form?: string;
}) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {TEXT.dialog.reason}
      </label>
      <textarea
        id={id}
        data-first
        rows={2}
        required
        form={form}
        value={value}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
        className="block w-full rounded-md border border-line-strong bg-surface px-3 py-1.5"
      />
      <p id={`${id}-hint`} className="mt-0.5 text-[0.87rem] text-soft">
        {TEXT.dialog.reasonHint}
      </p>
      {reasons.length > 0 ? (
        <ul className="mt-2 flex gap-1.5 overflow-x-auto" aria-label={TEXT.dialog.templates}>
          {reasons.map((one) => (
            <li key={one} className="shrink-0">
              <Button small onClick={() => onChange(one)}>
                {one}
              </Button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
