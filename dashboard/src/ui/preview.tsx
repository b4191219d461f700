import { useMemo } from "react";
import type { AnswerOf } from "../api/client.ts";
import { TEXT } from "../text.ts";
import { JsonTree } from "./json-tree.tsx";
import { bytesText } from "./numbers.ts";

export type Preview = NonNullable<AnswerOf<"readStep">["output"]>;

/** A value that the server has cut to its beginning: a tree if it is whole, else the text so far. */
export function PreviewView({ preview, label }: { readonly preview: Preview; readonly label: string }) {
  const parsed = useMemo(() => parse(preview), [preview]);
  if (parsed)
    return (
      <section
        aria-label={label}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
        tabIndex={0}
        className="max-h-96 overflow-auto rounded-md bg-sunken px-1 py-1.5"
      >
        <JsonTree value={parsed.value} openTo={2} />
      </section>
    );
  return (
    <div>
      <p className="mb-1 text-[0.87rem] text-waits">
        {TEXT.preview.cut(bytesText(preview.text.length), bytesText(preview.length))}
      </p>
      <pre
        aria-label={label}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
        tabIndex={0}
        className="max-h-96 overflow-auto rounded-md bg-sunken p-2 font-mono text-[0.87rem] break-all whitespace-pre-wrap"
      >
        {preview.text}
      </pre>
    </div>
  );
}

function parse({ text, isWhole }: Preview): { readonly value: unknown } | null {
  if (!isWhole) return null;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}
