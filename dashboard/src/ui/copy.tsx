import { Check, Copy } from "lucide-react";
import { Fragment, useEffect, useState } from "react";
import { TEXT } from "../text.ts";

/** Copies a text, and says so for a moment. */
export function CopyButton({
  text,
  label = TEXT.copy.act,
}: {
  readonly text: string;
  readonly label?: string;
}) {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => setDone(false), 1_500);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => setDone(true));
  const Icon = isDone ? Check : Copy;
  return (
    <button
      type="button"
      onClick={copy}
      aria-label={`${label}: ${text}`}
      title={isDone ? TEXT.copy.done : label}
      className="inline-flex size-6 shrink-0 items-center justify-center rounded text-faint hover:bg-sunken hover:text-ink"
    >
      <Icon aria-hidden className="size-3.5" />
    </button>
  );
}

/** A command line with a button that copies it. */
export function CommandLine({ command }: { readonly command: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
      <code className="min-w-0 flex-1 py-0.5 font-mono text-[0.87rem] break-words whitespace-pre-wrap">
        {/* A browser would break a line after the hyphens of an option. */}
        {command.split(" ").map((word, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- words have no other name, and never move
          <Fragment key={at}>
            {at === 0 ? null : " "}
            <span className="inline-block max-w-full break-all">{word}</span>
          </Fragment>
        ))}
      </code>
      <CopyButton text={command} />
    </div>
  );
}
