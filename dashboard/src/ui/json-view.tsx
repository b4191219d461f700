import { ChevronRight } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { TEXT } from "../text.ts";
import { folded, type JsonLine, jsonLines, NO_FOLDS, withMore } from "./json-tree.ts";
import { countText } from "./numbers.ts";
import { useRows } from "./virtual.ts";

const LINE_PX = 22;
const INDENT_PX = 16;

/** Written out, so that the style sheet holds them. */
const INK: Readonly<Record<JsonLine["kind"], string>> = {
  string: "text-good",
  number: "text-busy",
  word: "text-waits",
  object: "text-soft",
  array: "text-soft",
  more: "text-accent",
};

/** A value as a tree. Only the lines in view are in the page, and closed levels cost nothing. */
export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const [folds, setFolds] = useState(NO_FOLDS);
  const lines = useMemo(() => jsonLines(value, folds), [value, folds]);
  const box = useRef<HTMLElement>(null);
  const virtual = useRows({ count: lines.length, box, rowPx: LINE_PX, keyOf: (at) => lines[at]?.path ?? at });
  return (
    <section
      ref={box}
      aria-label={label}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
      tabIndex={0}
      className="max-h-96 overflow-auto rounded-md bg-sunken py-1 font-mono text-[0.87rem]"
    >
      <div className="relative min-w-max" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          if (!line) return null;
          return (
            <div
              key={item.key}
              className="absolute left-0 flex items-center gap-1.5 whitespace-pre"
              style={{ top: item.start, height: LINE_PX, paddingLeft: 6 + line.level * INDENT_PX }}
            >
              <Line
                line={line}
                onFold={() => setFolds(folded(folds, line))}
                onMore={() => setFolds(withMore(folds, line))}
              />
            </div>
          );
        })}
      </div>
    </section>
  );
}

function Line({
  line,
  onFold,
  onMore,
}: {
  readonly line: JsonLine;
  readonly onFold: () => void;
  readonly onMore: () => void;
}) {
  const { name, kind, text, isOpen } = line;
  if (kind === "more")
    return (
      <button type="button" onClick={onMore} className="ml-4 underline">
        {TEXT.json.more(countText(Number(text)))}
      </button>
    );
  const shown = kind === "array" ? `[${text}]` : kind === "object" ? `{${text}}` : oneLine(text);
  const label = name === null ? null : <span className="text-ink">{name}:</span>;
  if (isOpen === null)
    return (
      <span className="pl-4">
        {label} <span className={INK[kind]}>{shown}</span>
      </span>
    );
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onFold}
      className="flex items-center hover:underline"
    >
      <ChevronRight aria-hidden className={`size-4 text-faint ${isOpen ? "rotate-90" : ""}`} />
      {label} <span className={`ml-1.5 ${INK[kind]}`}>{shown}</span>
    </button>
  );
}

/** Line breaks are shown, not made. */
const oneLine = (text: string): string => text.replaceAll("\n", "⏎ ");
