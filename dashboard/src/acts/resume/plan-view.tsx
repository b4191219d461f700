import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { costText, countText, moneyText } from "../../ui/numbers.ts";
import { spanText, When } from "../../ui/time.tsx";
import { PlanPart, StepList } from "./plan-list.tsx";

export type PlanAnswer = AnswerOf<"planResume">;
export type Plan = PlanAnswer["plan"];

const { plan: words } = TEXT;

/** What a resume would do: reused, verified, run, changed, allowed, and what it costs. */
export function PlanView({ plan, estimate }: Pick<PlanAnswer, "plan" | "estimate">) {
  return (
    <div>
      <Figures plan={plan} estimate={estimate} />
      {plan.code ? null : (
        <p className="mt-3 rounded-md bg-waits-soft px-3 py-2 text-waits">{words.noCode}</p>
      )}
      {plan.blocked !== null && plan.code ? (
        <p role="alert" className="mt-3 rounded-md bg-bad-soft px-3 py-2 text-bad">
          {words.blocked(plan.blocked)}
        </p>
      ) : null}
      <div className="mt-3">
        <Parts plan={plan} />
      </div>
    </div>
  );
}

function Figures({ plan, estimate }: Pick<PlanAnswer, "plan" | "estimate">) {
  const { reuse, runs, inDoubt, budget } = plan;
  const saved = [
    spanText(reuse.ms),
    ...(reuse.costUsd === 0 ? [] : [costText(reuse)]),
    ...(reuse.tokens > 0 ? [words.tokens(countText(reuse.tokens))] : []),
  ];
  const rest = plan.code &&
    estimate && [spanText(estimate.ms), ...(estimate.costUsd === 0 ? [] : [costText(estimate)])];
  const left = budget?.costUsd;
  // Without the code, no step and no time left is what the journal doesn't say, not what will be.
  const isKnown = plan.code || runs.length > 0;
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-4">
      <Figure name={words.reused} value={words.steps(reuse.steps)}>
        {reuse.steps === 0 ? words.nothingDone : words.saves(saved.join(" · "))}
      </Figure>
      <Figure name={words.runsNext} value={isKnown ? words.steps(runs.length) : words.unknown}>
        {isKnown ? words.ends[plan.view.end] : words.codeTells}
      </Figure>
      <Figure name={words.inDoubt} value={words.steps(inDoubt.length)} isAlarming={inDoubt.length > 0}>
        {inDoubt.length === 0 ? words.allKnown : words.seeBelow}
      </Figure>
      <Figure name={words.rest} value={rest ? rest.join(" · ") : words.unknown}>
        {!plan.code ? words.codeTells : estimate ? words.median(estimate.runs) : words.noEstimate}
        {left === undefined ? "" : ` ${words.budgetLeft(moneyText(left))}`}
      </Figure>
    </dl>
  );
}

function Figure({
  name,
  value,
  isAlarming = false,
  children,
}: {
  readonly name: string;
  readonly value: string;
  readonly isAlarming?: boolean;
  readonly children: React.ReactNode;
}) {
  return (
    <div className="min-w-0">
      <dt className="text-[0.87rem] text-soft">{name}</dt>
      <dd className={`text-lg font-semibold tabular-nums ${isAlarming ? "text-waits" : ""}`}>{value}</dd>
      <dd className="text-[0.87rem] text-soft">{children}</dd>
    </div>
  );
}

function Parts({ plan }: { readonly plan: Plan }) {
  const { inDoubt, runs, waits, view, worker, children, approvals } = plan;
  return (
    <>
      {worker ? <PlanPart title={words.worker} tone="waits" note={words.workerNote(worker.owner)} /> : null}
      {inDoubt.length > 0 ? (
        <PlanPart title={words.verified} count={inDoubt.length} tone="waits">
          <StepList
            rows={inDoubt}
            note={({ effect, attempt, treatment }) =>
              `${words.effects[effect]} · ${words.attempt(attempt)} · ${treatment}`
            }
          />
        </PlanPart>
      ) : null}
      {runs.length > 0 ? (
        <PlanPart title={words.runs} count={runs.length} tone="busy">
          <StepList rows={runs} note={(row) => <NextNote {...row} />} />
        </PlanPart>
      ) : null}
      {waits.length > 0 ? (
        <PlanPart title={words.waits} count={waits.length} tone="waits">
          <StepList
            rows={waits}
            note={({ for: kind, until }) => (
              <>
                {kind}
                {until === undefined ? null : (
                  <>
                    {" "}
                    · <When at={until} />
                  </>
                )}
              </>
            )}
          />
        </PlanPart>
      ) : null}
      <ChangedPart plan={plan} />
      <PolicyPart plan={plan} />
      {approvals.length > 0 ? (
        <PlanPart title={words.approvals} count={approvals.length} tone="waits">
          <StepList rows={approvals} note={({ gate, state }) => `${words.approval[state]} (${gate})`} />
        </PlanPart>
      ) : null}
      <ContentPart plan={plan} />
      {children.length > 0 ? (
        <PlanPart title={words.children} count={children.length} tone="calm">
          <StepList
            rows={children.map((child) => ({ ...child, step: child.runId }))}
            note={({ status, runs: first, inDoubt: open }) =>
              `${status} · ${words.startsWith(first.length + open.length)}`
            }
          />
        </PlanPart>
      ) : null}
      {view.end === "open" && view.after.length > 0 ? (
        <PlanPart title={words.after} tone="calm" note={words.depends(view.after.slice(0, 4).join(", "))}>
          {view.announced.length > 0 ? <p>{words.announced(view.announced.slice(0, 8).join(", "))}</p> : null}
        </PlanPart>
      ) : null}
    </>
  );
}

function NextNote({ type, effect, attempt, at, instead }: Plan["runs"][number]) {
  const facts = [
    type === "call" ? words.effects[effect] : type,
    ...(attempt > 1 ? [words.attempt(attempt)] : []),
    ...(instead === undefined ? [] : [words.instead[instead]]),
  ];
  return (
    <>
      {facts.join(" · ")}
      {at === undefined ? null : (
        <>
          {" "}
          · <When at={at} />
        </>
      )}
    </>
  );
}

function ChangedPart({ plan: { changed } }: { readonly plan: Plan }) {
  const { version, schema, notAsked, new: added } = changed;
  const facts = [
    ...(version ? [words.version(version.from, version.to)] : []),
    ...(schema ? [words.schema(schema.from, schema.to)] : []),
    ...(notAsked.length > 0 ? [words.notAsked(notAsked.join(", "))] : []),
    ...(added.length > 0 ? [words.added(added.join(", "))] : []),
  ];
  if (facts.length === 0) return null;
  return (
    <PlanPart title={words.changed} tone="waits">
      <ul>
        {facts.map((fact) => (
          <li key={fact} className="break-words">
            {fact}
          </li>
        ))}
      </ul>
    </PlanPart>
  );
}

function PolicyPart({ plan: { policy } }: { readonly plan: Plan }) {
  if (policy.length === 0) return null;
  const held = policy.filter(({ verdict }) => verdict !== "allow");
  return (
    <PlanPart
      title={words.policy}
      count={policy.length}
      tone={held.length === 0 ? "good" : "bad"}
      note={words.allowed(policy.length - held.length)}
    >
      <StepList
        rows={held}
        note={({ verdict }) =>
          verdict === "allow" ? "" : "deny" in verdict ? words.denied(verdict.deny) : words.asks(verdict.ask)
        }
      />
    </PlanPart>
  );
}

function ContentPart({ plan: { content } }: { readonly plan: Plan }) {
  if (content.held.length === 0) return null;
  return (
    <PlanPart title={words.content} count={content.held.length} tone="bad">
      <StepList
        rows={content.held.map((one) => ({ ...one, step: `${one.source} ${one.name}` }))}
        note={({ verdict }) =>
          "park" in verdict ? words.parked(verdict.park) : words.left(verdict.quarantine)
        }
      />
    </PlanPart>
  );
}
