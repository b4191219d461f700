import { useState } from "react";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { byPart, type Difference, isNoise } from "./delta.ts";

const { compare: words } = TEXT;

/** So many are drawn at once. */
const PAGE = 100;

/** The values that differ, before and after, by the part of the state they are in. */
export function ValueDiff({
  differences,
  isQuiet,
}: {
  readonly differences: readonly Difference[];
  readonly isQuiet: boolean;
}) {
  const [most, setMost] = useState(PAGE);
  const shown = isQuiet ? differences.filter(({ path }) => !isNoise(path)) : differences;
  const hidden = differences.length - shown.length;
  return (
    <div className="w-full">
      {shown.length === 0 ? <p className="text-soft">{words.noValues}</p> : null}
      {byPart(shown.slice(0, most)).map(([part, found]) => (
        <section key={part} className="border-t border-line py-2 first:border-t-0">
          <h3 className="font-medium">{part}</h3>
          {found.map((one) => (
            <One key={`${one.kind} ${one.path.join("/")}`} {...one} />
          ))}
        </section>
      ))}
      {shown.length > most ? (
        <Button small onClick={() => setMost(most + PAGE)}>
          {TEXT.json.more(shown.length - most)}
        </Button>
      ) : null}
      {hidden > 0 ? <p className="text-soft">{words.noise(hidden)}</p> : null}
    </div>
  );
}

function One({ path, kind, from, to }: Difference) {
  const [, ...rest] = path;
  return (
    <div className="grid gap-x-4 py-1 sm:grid-cols-[minmax(8rem,16rem)_1fr]">
      <p className="font-mono text-[0.93rem] break-all">{rest.join(".")}</p>
      <div className="min-w-0">
        {kind === "added" ? null : (
          <div className="rounded bg-bad-soft/60 px-1">
            <span className="sr-only">{words.before}</span>
            <JsonTree value={from} openTo={0} />
          </div>
        )}
        {kind === "removed" ? null : (
          <div className="mt-0.5 rounded bg-good-soft/60 px-1">
            <span className="sr-only">{words.after}</span>
            <JsonTree value={to} openTo={0} />
          </div>
        )}
      </div>
    </div>
  );
}
