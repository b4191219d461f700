import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { Headline } from "../../ui/headline.tsx";
import { costText, countText, moneyText } from "../../ui/numbers.ts";
import { Since, spanText, When } from "../../ui/time.tsx";
import { Lineage } from "./lineage.tsx";
import type { Outline } from "./outline/tree.ts";
import { ProgressBar } from "./progress-bar.tsx";
import { runsWith } from "./runs-with.ts";

export type RunAnswer = AnswerOf<"getRun">;

const BARS: Readonly<Record<Tone, string>> = {
  good: "bg-good",
  bad: "bg-bad",
  waits: "bg-waits",
  busy: "bg-busy",
  calm: "bg-calm",
};

/** What the run is, how it stands, and what it has cost, before anything else. */
export function Head({
  answer,
  outline,
  acts,
}: {
  readonly answer: RunAnswer;
  readonly outline: Outline | undefined;
  readonly acts: ReactNode;
}) {
  const { run, headline, word, tone, since } = answer;
  const title = run.name ?? run.id;
  useEffect(() => {
    document.title = `${title} · ${TEXT.product}`;
  }, [title]);
  return (
    <header>
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-80">
          <p className="text-[0.87rem] text-soft">
            <Link href={runsWith("workflow", run.workflow)} className="hover:underline">
              {run.workflow}
            </Link>{" "}
            <span className="text-faint">· {TEXT.run.head.version(run.version)}</span>
          </p>
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="flex min-w-0 items-center gap-1 text-xl font-semibold tracking-tight break-all">
              {title}
              <CopyButton text={run.id} />
            </h1>
            <Badge tone={tone}>{word}</Badge>
            <span className="text-soft">
              {run.finishedAt === null ? (
                <>
                  {TEXT.run.head.for} <Since at={since} />
                </>
              ) : (
                <When at={run.finishedAt} />
              )}
            </span>
            {outline ? <ProgressBar progress={outline.progress} tone={BARS[tone]} /> : null}
          </div>
          {headline === run.status ? null : (
            <p className="mt-1.5 max-w-[80ch] text-[1.07rem] break-words">
              <Headline text={headline} />
            </p>
          )}
          <TakenOver answer={answer} />
        </div>
        {acts}
      </div>
      <Trouble answer={answer} />
      <Facts answer={answer} outline={outline} />
      <Lineage run={run.id} />
    </header>
  );
}

/** True when the sentence at the top holds the text, whatever its first letter and its full stop. */
const isSaidBy = (headline: string, text: string): boolean =>
  headline.toLowerCase().includes(text.toLowerCase().replace(/\.$/, ""));

/** The error of a run that has failed, and what isn't saved. */
function Trouble({ answer: { run, headline, notSavedSince } }: { readonly answer: RunAnswer }) {
  const details = run.waiting.flatMap(({ detail }) => detail ?? []);
  const texts = [run.error, ...details].filter((text) => text !== null && !isSaidBy(headline, text));
  return (
    <>
      {notSavedSince === null ? null : (
        <p role="alert" className="mt-3 rounded-md bg-bad-soft px-3 py-2 text-bad">
          {TEXT.run.head.notSaved} <When at={notSavedSince} />
        </p>
      )}
      {texts.map((text) => (
        <pre
          key={text}
          className="mt-3 max-h-40 overflow-y-auto rounded-md border-l-2 border-bad bg-bad-soft/60 px-3 py-2 font-mono text-[0.87rem] break-words whitespace-pre-wrap"
        >
          {text}
        </pre>
      ))}
    </>
  );
}

/** Tells for as long as somebody looks that another worker has taken the run over. */
function TakenOver({ answer: { run } }: { readonly answer: RunAnswer }) {
  const before = useRef(run.recoveries);
  const [moment, setMoment] = useState<{ readonly owner: string; readonly at: number } | null>(null);
  useEffect(() => {
    if (run.recoveries > before.current) setMoment({ owner: run.claim.owner ?? "", at: run.updatedAt });
    before.current = run.recoveries;
  }, [run]);
  if (!moment) return null;
  return (
    <p className="mt-1 text-busy">
      {TEXT.run.head.takenOver(moment.owner)} · <When at={moment.at} />
    </p>
  );
}

function Facts({
  answer: { run },
  outline,
}: {
  readonly answer: RunAnswer;
  readonly outline: Outline | undefined;
}) {
  const { facts } = TEXT.run;
  const saved = outline?.saved;
  return (
    <dl className="mt-3 flex flex-wrap gap-x-8 gap-y-2 border-y border-line py-2.5 text-[0.93rem]">
      <Fact name={facts.started}>
        <When at={run.createdAt} />
      </Fact>
      <Fact name={run.finishedAt === null ? facts.worked : facts.took}>
        {spanText(run.finishedAt === null ? run.activeMs : run.finishedAt - run.createdAt)}
      </Fact>
      {run.claim.owner === null ? null : <Fact name={facts.worker}>{run.claim.owner}</Fact>}
      <Fact name={facts.cost}>
        {run.usage.tokens === 0 && run.usage.costUsd === 0 ? "–" : costText(run.usage)}
        {run.usage.tokens > 0 ? (
          <span className="text-soft"> · {TEXT.run.tokens(countText(run.usage.tokens))}</span>
        ) : null}
      </Fact>
      {saved && saved.steps > 0 ? (
        <Fact name={facts.saved}>
          <span className="text-good">{saved.costUsd ? moneyText(saved.costUsd) : spanText(saved.ms)} </span>
          <span className="text-soft">{facts.reused(saved.steps)}</span>
        </Fact>
      ) : null}
      {run.recoveries > 0 ? <Fact name={facts.recoveries}>{run.recoveries}</Fact> : null}
      {outline && outline.resumes > 0 ? <Fact name={facts.resumes}>{outline.resumes}</Fact> : null}
      {run.queue === null ? null : <Fact name={facts.queue}>{run.queue}</Fact>}
      {run.key === null ? null : <Fact name={facts.key}>{run.key}</Fact>}
      {Object.entries(run.labels).map(([name, value]) => (
        <Fact key={name} name={name}>
          <Link
            href={runsWith("label", `${name}=${value}`)}
            className="decoration-line-strong underline-offset-2 hover:underline"
          >
            {value}
          </Link>
        </Fact>
      ))}
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-[0.82rem] text-soft">{name}</dt>
      <dd className="max-w-72 truncate">{children}</dd>
    </div>
  );
}
