import { Search } from "lucide-react";
import { type RefObject, useCallback, useEffect, useState } from "react";
import { TEXT } from "../../text.ts";
import { problemsOf } from "./filter.ts";

const T = TEXT.runs;
/** How long somebody may pause while typing. */
const TYPING_MS = 300;

/** The filter as text. It takes effect while somebody types, and at once on Enter. */
export function SearchBox({
  text,
  onText,
  input,
}: {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly input: RefObject<HTMLInputElement | null>;
}) {
  // `of` is the filter that the text belongs to: another one, such as that of a view, replaces what is typed.
  const [{ typed, of }, setState] = useState({ typed: text, of: text });
  if (of !== text) setState({ typed: text, of: text });
  const send = useCallback(() => {
    setState({ typed, of: typed.trim() });
    onText(typed.trim());
  }, [typed, onText]);
  useEffect(() => {
    if (typed.trim() === of) return undefined;
    const timer = setTimeout(send, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, of, send]);
  const problems = problemsOf(text, 0);
  return (
    <search className="min-w-0 flex-1 basis-60">
      <form
        className="relative"
        onSubmit={(event) => {
          event.preventDefault();
          send();
          input.current?.blur();
        }}
      >
        <Search aria-hidden className="absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint" />
        <input
          ref={input}
          type="search"
          aria-label={T.search}
          aria-keyshortcuts="/"
          placeholder={T.placeholder}
          value={typed}
          maxLength={1_000}
          onChange={(event) => setState({ typed: event.target.value, of })}
          onKeyDown={(event) => {
            if (event.key === "Escape") input.current?.blur();
          }}
          className="min-h-9 w-full rounded-md border border-line-strong/60 bg-surface py-1.5 pr-3 pl-8 placeholder:text-faint"
        />
      </form>
      {problems.length === 0 ? null : (
        <p role="alert" className="mt-1 text-[0.87rem] text-waits">
          {T.ignored(problems.join(", "))}
        </p>
      )}
    </search>
  );
}
