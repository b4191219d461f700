import type { ReactNode } from "react";
import { Reveal } from "../acts/reveal.tsx";
import { type AnswerOf, client } from "../api/client.ts";
import { TEXT } from "../text.ts";
import { Button } from "../ui/button.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { costText, countText } from "../ui/numbers.ts";
import { spanText } from "../ui/time.tsx";
import { previewed } from "./previewed.ts";

const { checkpoints: words } = TEXT;

type Head = AnswerOf<"getCheckpoint">;

/** So many names are written out; the rest is counted. */
const NAMES = 8;

const named = (names: readonly string[]): string =>
  names.length > NAMES
    ? `${names.slice(-NAMES).toReversed().join(", ")} ${TEXT.json.more(names.length - NAMES)}`
    : names.toReversed().join(", ");

/** What stood at a checkpoint. */
export function Moment({ head }: { readonly head: Head }) {
  const { status, phase, progress, completed, failed, pending, current, iterations, usage, metrics, waits } =
    head;
  const loops = Object.entries(iterations).map(
    ([loop, { iteration, done }]) => `${loop}: ${words.turn(iteration, done)}`,
  );
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.status, status],
    ...(phase === "" ? [] : [[words.phase, phase] as const]),
    [words.progress, progress.text],
    [words.cost, `${costText(usage)} · ${words.tokens(countText(usage.tokens))}`],
    [words.elapsed, spanText(metrics.elapsedMs)],
    ...(completed.length === 0 ? [] : [[`${words.done} ${completed.length}`, named(completed)] as const]),
    ...(failed.length === 0 ? [] : [[`${words.failed} ${failed.length}`, named(failed)] as const]),
    ...(current.length === 0 ? [] : [[words.underWay, named(current.map(({ step }) => step))] as const]),
    ...(pending.length === 0 ? [] : [[`${words.pending} ${pending.length}`, named(pending)] as const]),
    ...(loops.length === 0 ? [] : [[words.loops, loops.join(", ")] as const]),
    ...(waits.length === 0
      ? []
      : [[words.waits, waits.map(({ kind, step }) => `${kind} ${step}`).join(", ")] as const]),
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 lg:grid-cols-[auto_1fr_auto_1fr]">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The values at a checkpoint, after somebody has said why they look. */
export function MomentState({ run, seq }: { readonly run: string; readonly seq: number }) {
  return (
    <Reveal
      key={`${run}@${seq}`}
      what={words.state(`${run}@${seq}`)}
      read={async (reason) => previewed(await client.previewState({ run, at: String(seq), reason }))}
    >
      {({ shown }, hide) => (
        <div className="flex flex-col items-start gap-2">
          <section
            className="w-full overflow-x-auto rounded-md bg-sunken p-2"
            aria-label={words.state(`${run}@${seq}`)}
          >
            <JsonTree value={shown} openTo={2} />
          </section>
          <Button small onClick={hide}>
            {TEXT.reveal.hide}
          </Button>
        </div>
      )}
    </Reveal>
  );
}
