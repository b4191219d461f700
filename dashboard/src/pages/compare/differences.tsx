import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { Reveal } from "../../acts/reveal.tsx";
import { type AnswerOf, client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { costText, moneyText } from "../../ui/numbers.ts";
import { spanText } from "../../ui/time.tsx";
import { type Pair, pathOf } from "./address.ts";
import { byPart, differencesOf, isNoise, partsOf } from "./delta.ts";
import { ValueDiff } from "./value-diff.tsx";

const { compare: words } = TEXT;

type Diff = AnswerOf<"diff">;

/** What differs, first without values. */
export function Differences({ pair, diff }: { readonly pair: Pair; readonly diff: Diff }) {
  const [isQuiet, setQuiet] = useState(true);
  return (
    <div className="flex flex-col gap-6">
      <Summary diff={diff} />
      {diff.same ? <p>{words.same}</p> : null}
      <Steps steps={diff.steps} />
      <section>
        <div className="mb-2 flex flex-wrap items-center justify-between gap-3">
          <h2 className="font-semibold">{words.values}</h2>
          <label className="flex items-center gap-2 text-[0.93rem]">
            <input type="checkbox" checked={isQuiet} onChange={(event) => setQuiet(event.target.checked)} />
            {words.quiet}
          </label>
        </div>
        <Reveal
          key={`${pair.from} ${pair.to}`}
          what={words.hidden}
          read={(reason) => client.readDiff({ ...pair, reason })}
        >
          {({ state }, hide) => (
            <div className="flex flex-col items-start gap-3">
              <ValueDiff differences={differencesOf(state)} isQuiet={isQuiet} />
              <Button small onClick={hide}>
                {TEXT.reveal.hide}
              </Button>
            </div>
          )}
        </Reveal>
        <Paths changes={diff.changes} isQuiet={isQuiet} />
      </section>
      <p className="text-[0.87rem] text-soft">
        {words.see}{" "}
        {[pair.from, pair.to].map((address) => (
          <Link
            key={address}
            href={pathOf(address)}
            className="mr-3 font-mono text-busy underline underline-offset-2"
          >
            {address}
          </Link>
        ))}
      </p>
    </div>
  );
}

const signed = (value: number, text: (value: number) => string): string =>
  value === 0 ? words.equal : `${value > 0 ? "+" : "−"}${text(Math.abs(value))}`;

function Summary({ diff: { status, usage, ms, decisions, steps } }: { readonly diff: Diff }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.status, status.from === status.to ? status.to : `${status.from} → ${status.to}`],
    [words.time, signed(ms, spanText)],
    [words.cost, usage.costUsd === null ? costText(usage) : signed(usage.costUsd, moneyText)],
    [words.tokens, signed(usage.tokens, String)],
    [words.turns, signed(usage.turns, String)],
    [words.steps, words.counts(steps.added.length, steps.removed.length, steps.changed.length)],
    [words.decisions, words.counts(decisions.added, decisions.removed, 0)],
  ];
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2 border-y border-line py-2.5">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="text-[0.82rem] text-soft">{name}</dt>
          <dd className="font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const SIGNS = { added: "+", removed: "−", changed: "~" } as const;
const COLOURS = { added: "text-good", removed: "text-bad", changed: "text-waits" } as const;
const KINDS = ["added", "removed", "changed"] as const;
/** So many names are written out. */
const MOST = 200;

function Steps({ steps }: { readonly steps: Diff["steps"] }) {
  if (KINDS.every((kind) => steps[kind].length === 0)) return null;
  return (
    <section>
      <h2 className="mb-2 font-semibold">{words.steps}</h2>
      <ul className="grid gap-x-6 sm:grid-cols-2 xl:grid-cols-3">
        {KINDS.flatMap((kind) =>
          steps[kind].slice(0, MOST).map((step) => (
            <li key={`${kind} ${step}`} className="flex min-w-0 gap-2 font-mono text-[0.93rem]">
              <span className={COLOURS[kind]} title={words.kinds[kind]}>
                {SIGNS[kind]}
              </span>
              <span className="sr-only">{words.kinds[kind]}</span>
              <span className="min-w-0 break-all">{step}</span>
            </li>
          )),
        )}
      </ul>
      {KINDS.map((kind) =>
        steps[kind].length > MOST ? (
          <p key={kind} className="text-soft">
            {words.kinds[kind]}: {TEXT.json.more(steps[kind].length - MOST)}
          </p>
        ) : null,
      )}
    </section>
  );
}

const OPS: Readonly<Record<string, keyof typeof SIGNS>> = {
  add: "added",
  remove: "removed",
  replace: "changed",
};

/** The places that differ, without their values. */
function Paths({ changes, isQuiet }: { readonly changes: Diff["changes"]; readonly isQuiet: boolean }) {
  const all = changes.map(({ op, path }) => ({ kind: OPS[op] ?? "changed", path: partsOf(path) }));
  const shown = isQuiet ? all.filter(({ path }) => !isNoise(path)) : all;
  if (all.length === 0) return null;
  return (
    <details className="mt-3" open={all.length <= 40}>
      <summary className="font-medium">{words.paths(shown.length)}</summary>
      {byPart(shown).map(([part, found]) => (
        <ul key={part} className="mt-1 ml-5">
          {found.slice(0, MOST).map(({ kind, path }) => (
            <li key={`${kind} ${path.join("/")}`} className="flex gap-2 font-mono text-[0.93rem]">
              <span className={COLOURS[kind]}>{SIGNS[kind]}</span>
              <span className="sr-only">{words.kinds[kind]}</span>
              <span className="min-w-0 break-all">{path.join(".")}</span>
            </li>
          ))}
          {found.length > MOST ? <li className="text-soft">{TEXT.json.more(found.length - MOST)}</li> : null}
        </ul>
      ))}
      {shown.length < all.length ? (
        <p className="mt-1 text-soft">{words.noise(all.length - shown.length)}</p>
      ) : null}
    </details>
  );
}
