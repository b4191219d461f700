import { useId, useRef } from "react";
import { TEXT } from "../text.ts";
import { checkJson } from "./check-json.ts";

/** A text of JSON with line numbers, checked while somebody types. */
export function JsonField({
  label,
  hint,
  value,
  onChange,
  rows = 8,
  isFirst = false,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly rows?: number;
  readonly isFirst?: boolean;
}) {
  const id = useId();
  const numbers = useRef<HTMLPreElement>(null);
  const found = checkJson(value);
  const problem = value.trim() === "" || found.isValid ? null : found;
  const count = value.split("\n").length;
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <div
        className={`flex overflow-hidden rounded-md border bg-surface font-mono text-[0.87rem] leading-5 ${problem ? "border-bad" : "border-line-strong"}`}
      >
        <pre
          ref={numbers}
          aria-hidden
          className="m-0 shrink-0 overflow-hidden border-r border-line bg-sunken px-2 py-2 text-right text-faint select-none"
          style={{ height: `${rows * 1.25 + 1}rem` }}
        >
          {Array.from({ length: count }, (_, index) => (
            <span key={index} className={`block ${problem?.line === index + 1 ? "font-bold text-bad" : ""}`}>
              {index + 1}
            </span>
          ))}
        </pre>
        <textarea
          id={id}
          value={value}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          aria-invalid={problem !== null}
          aria-describedby={`${id}-hint`}
          {...(isFirst ? { "data-first": true } : {})}
          style={{ height: `${rows * 1.25 + 1}rem` }}
          onScroll={({ currentTarget: { scrollTop } }) => {
            if (numbers.current) numbers.current.scrollTop = scrollTop;
          }}
          onChange={(event) => onChange(event.target.value)}
          className="block min-w-0 flex-1 resize-none overflow-auto bg-transparent px-2 py-2 whitespace-pre outline-none focus-visible:outline-2 focus-visible:-outline-offset-2"
        />
      </div>
      <p
        id={`${id}-hint`}
        className={`mt-0.5 text-[0.87rem] ${problem ? "text-bad" : "text-soft"}`}
        aria-live="polite"
      >
        {problem ? TEXT.json.wrong(problem.line, problem.column, problem.message) : (hint ?? "")}
      </p>
    </div>
  );
}
