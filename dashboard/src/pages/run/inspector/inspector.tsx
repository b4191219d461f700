import { X } from "lucide-react";
import { Link } from "wouter";
import type { AnswerOf } from "../../../api/client.ts";
import { useApi } from "../../../api/use-api.ts";
import { TEXT } from "../../../text.ts";
import { Badge } from "../../../ui/badge.tsx";
import { CopyButton } from "../../../ui/copy.tsx";
import { costText, countText } from "../../../ui/numbers.ts";
import { spanText, useNow, When } from "../../../ui/time.tsx";
import { spentOf, tookOf } from "../outline/figures.ts";
import type { Node, Step } from "../outline/tree.ts";
import { lookOf } from "../states.tsx";
import { Attempts } from "./attempts.tsx";
import { ChildSteps } from "./child-steps.tsx";
import { Fact, Facts, Part } from "./part.tsx";
import { ValuesPart } from "./values.tsx";

export interface InspectorProps {
  readonly run: string;
  readonly node: Node;
  readonly attempt: number | null;
  readonly onAttempt: (attempt: number) => void;
  readonly onSelect: (key: string) => void;
  /** Not where something around it closes it. */
  readonly onClose?: () => void;
}

/** Everything about one step, or a short account of a group. */
export default function Inspector(props: InspectorProps) {
  const { run, node, onClose } = props;
  const look = lookOf(node, useNow());
  return (
    <section aria-label={TEXT.inspector.label} className="flex flex-col">
      <header className="flex items-start gap-2 border-b border-line px-4 py-3">
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold break-words">{TEXT.run.outline.name(node.kind, node.name)}</h2>
          <p className="flex items-center gap-1 font-mono text-[0.82rem] break-all text-soft">
            {run}:{node.key}
            <CopyButton text={`${run}:${node.key}`} />
          </p>
        </div>
        <Badge tone={look.tone}>{look.word}</Badge>
        {onClose ? (
          <button
            type="button"
            aria-label={TEXT.inspector.close}
            onClick={onClose}
            className="rounded p-1 text-faint hover:bg-sunken hover:text-ink"
          >
            <X aria-hidden className="size-4" />
          </button>
        ) : null}
      </header>
      {node.step ? <StepParts {...props} step={node.step} /> : <GroupParts {...props} />}
    </section>
  );
}

function StepParts(props: InspectorProps & { readonly step: Step }) {
  const { run, node, step, attempt, onAttempt, onSelect } = props;
  const now = useNow();
  const { data: known } = useApi("getStep", { run, step: step.step });
  const detail = known?.step === step.step ? known : undefined;
  const spent = spentOf({ ...node, children: [] });
  const took = tookOf({ ...node, children: [] }, now);
  const { facts } = TEXT.inspector;
  return (
    <>
      <Facts>
        <Fact name={facts.type}>{TEXT.inspector.types[step.type]}</Fact>
        <Fact name={facts.took}>{took === null ? TEXT.inspector.notBegun : spanText(took)}</Fact>
        {spent.tokens > 0 ? (
          <Fact name={facts.used}>
            {TEXT.run.tokens(countText(spent.tokens))} · {costText(spent)}
          </Fact>
        ) : null}
        {step.choice === undefined ? null : (
          <Fact name={facts.answer}>
            <strong className="font-medium">{step.choice}</strong>
            {step.actor === undefined ? null : ` · ${step.actor}`}
          </Fact>
        )}
        {step.choice === undefined && step.actor !== undefined ? (
          <Fact name={facts.decidedBy}>{step.actor}</Fact>
        ) : null}
        {step.until === undefined ? null : (
          <Fact name={facts.until}>
            <When at={step.until} />
          </Fact>
        )}
        {step.child === undefined ? null : (
          <Fact name={facts.child}>
            <Link href={`/r/${step.child}`} className="break-all text-accent underline">
              {step.child}
            </Link>
          </Fact>
        )}
        {step.instead === undefined ? null : (
          <Fact name={facts.instead}>{TEXT.inspector.instead[step.instead]}</Fact>
        )}
      </Facts>
      {step.child === undefined ? null : <ChildSteps run={step.child} />}
      <Attempts attempts={detail?.attempts ?? step.attempts} selected={attempt} onSelect={onAttempt} />
      <ValuesPart key={step.step} run={run} step={step.step} />
      <Crash step={step} detail={detail} />
      <Nearby node={node} onSelect={onSelect} />
    </>
  );
}

/** What it would mean if the process died right there. */
function Crash({ step, detail }: { readonly step: Step; readonly detail: AnswerOf<"getStep"> | undefined }) {
  return (
    <Part title={TEXT.inspector.crash}>
      {step.type === "call" ? <p className="font-medium">{TEXT.inspector.effectNames[step.effect]}</p> : null}
      <p className="text-soft">{detail?.crash}</p>
      {step.key === undefined ? null : (
        <p className="mt-1 text-soft">
          {TEXT.inspector.key} <code className="font-mono text-[0.87rem] break-all text-ink">{step.key}</code>
        </p>
      )}
      {step.state === "in doubt" && step.rerunAfter !== undefined ? (
        <p className="mt-1 text-waits">
          {TEXT.inspector.rerunAfter} <When at={step.rerunAfter} />
        </p>
      ) : null}
    </Part>
  );
}

/** Children of a step that has some, such as a branch with steps inside. */
function Nearby({ node, onSelect }: { readonly node: Node; readonly onSelect: (key: string) => void }) {
  if (node.children.length === 0) return null;
  return (
    <Part title={TEXT.inspector.inside}>
      <Children node={node} onSelect={onSelect} />
    </Part>
  );
}

/** The most children that are named here; the outline has them all. */
const SHOWN = 12;

function Children({ node, onSelect }: { readonly node: Node; readonly onSelect: (key: string) => void }) {
  const now = useNow();
  const troubled = node.children.filter(({ state }) => state !== "done");
  const shown = (troubled.length > 0 ? troubled : node.children).slice(0, SHOWN);
  return (
    <ul>
      {shown.map((child) => {
        const look = lookOf(child, now);
        return (
          <li key={child.key}>
            <button
              type="button"
              onClick={() => onSelect(child.key)}
              className="flex w-full items-center justify-between gap-2 rounded px-1 py-0.5 text-left hover:bg-sunken"
            >
              <span className="truncate">{TEXT.run.outline.name(child.kind, child.name)}</span>
              <Badge tone={look.tone}>{look.word}</Badge>
            </button>
          </li>
        );
      })}
      {shown.length < node.children.length ? (
        <li className="px-1 text-soft">{TEXT.inspector.others(node.children.length - shown.length)}</li>
      ) : null}
    </ul>
  );
}

function GroupParts({ node, onSelect }: InspectorProps) {
  const now = useNow();
  const { counts } = node;
  const spent = spentOf(node);
  const took = tookOf(node, now);
  const { facts } = TEXT.inspector;
  if (node.state === "not started") return <p className="px-4 py-3 text-soft">{TEXT.inspector.notStarted}</p>;
  return (
    <>
      <Facts>
        <Fact name={TEXT.inspector.kinds[node.kind]}>
          {TEXT.run.outline.count(node.kind, countText(counts.done), countText(counts.total))}
          {counts.failed > 0 ? (
            <span className="text-bad"> · {TEXT.run.outline.failedCount(counts.failed)}</span>
          ) : null}
        </Fact>
        {took === null ? null : <Fact name={facts.took}>{spanText(took)}</Fact>}
        {spent.tokens > 0 ? (
          <Fact name={facts.used}>
            {TEXT.run.tokens(countText(spent.tokens))} · {costText(spent)}
          </Fact>
        ) : null}
      </Facts>
      {node.notes.length > 0 ? (
        <Part title={TEXT.inspector.notes}>
          <ul className="text-waits">
            {node.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Part>
      ) : null}
      <Part title={TEXT.inspector.inside}>
        <Children node={node} onSelect={onSelect} />
      </Part>
    </>
  );
}
