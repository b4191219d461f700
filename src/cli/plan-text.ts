import type { Estimate } from "../core/manage/plan/estimate.ts";
import type { DoubtfulStep, ResumePlan } from "../core/manage/plan/plan-types.ts";
import { columns, duration, plural, spent, tokens, usd } from "./format.ts";
import type { Paint } from "./paint.ts";

/** Describes a resume before it is done: what is reused, verified, run, changed, allowed. */
export function planText(
  given: ResumePlan,
  guess: Estimate | undefined,
  paint: Paint,
  name: (step: string) => string = (step) => step,
): string {
  const plan = named(given, name);
  const rows = [
    reuse(plan),
    ...plan.inDoubt.map((one) => ["verify", "in doubt", doubt(one)]),
    ...running(plan, guess),
    ...plan.waits.map(({ step, for: kind }) => ["wait", kind, step]),
    ...changed(plan),
    ...policy(plan),
    ...plan.approvals.map(({ step, gate, state }) => ["approve", state, `${step} (gate ${gate})`]),
    ...content(plan),
    ...(plan.budget ? [["budget", "left", budget(plan.budget)]] : []),
    ...plan.children.map(({ runId, status, runs, inDoubt }) => [
      "child",
      status,
      `${runId}: ${plural(runs.length + inDoubt.length, "step")} first`,
    ]),
    ...(plan.worker ? [["worker", "claimed", `${plan.worker.owner} may be working on it now`]] : []),
    ...view(plan),
    ...(plan.blocked === null ? [] : [["blocked", "", plan.blocked]]),
  ];
  return columns(rows.map(([label = "", ...rest]) => [`  ${paint.bold(label)}`, ...rest])).join("\n");
}

/** The plan with steps under their displayed names; steps to decide about keep their exact names. */
function named(plan: ResumePlan, name: (step: string) => string): ResumePlan {
  const { runs, changed, view: seen, policy: verdicts } = plan;
  return {
    ...plan,
    runs: runs.map((one) => ({ ...one, step: name(one.step) })),
    waits: plan.waits.map((one) => (one.for === "decision" ? one : { ...one, step: name(one.step) })),
    policy: verdicts.map((one) => ({ ...one, step: name(one.step) })),
    changed: { ...changed, new: unique(changed.new.map(name)), notAsked: unique(changed.notAsked.map(name)) },
    view: { ...seen, after: unique(seen.after.map(name)) },
  };
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];

function reuse({ reuse: { steps, ...used } }: ResumePlan): string[] {
  const saved = spent(used);
  return [
    "reuse",
    plural(steps, "step"),
    steps === 0 ? "no step is done yet" : `${saved} won't be spent again`,
  ];
}

const doubt = ({ step, effect, attempt, treatment }: DoubtfulStep): string =>
  `${step} (${effect}, attempt ${attempt}) — no outcome recorded; ${treatment}`;

function running({ runs }: ResumePlan, guess: Estimate | undefined): string[][] {
  if (runs.length === 0) return [];
  const names = runs.map(({ step, type, effect, instead }) => {
    const kind = type === "call" ? effect : type;
    return `${step}${kind === "repeatable" ? "" : ` (${kind})`}${instead ? ` → ${instead}` : ""}`;
  });
  const shown = names.slice(0, 4).join(", ") + (names.length > 4 ? ` and ${names.length - 4} more` : "");
  const cost =
    guess &&
    [`est. ${duration(guess.ms)}`, guess.costUsd ? usd(guess.costUsd) : ""]
      .filter((one) => one !== "")
      .join(" · ");
  const from = guess && (guess.runs === 1 ? "as the run before" : `median of ${guess.runs} runs`);
  return [["run", `next ${runs.length}`, cost ? `${shown} … ${cost} (${from})` : shown]];
}

function changed({ changed: { version, schema, notAsked, new: added } }: ResumePlan): string[][] {
  const facts = [
    version ? `version ${version.from} → ${version.to}` : "",
    schema ? `state schema ${schema.from} → ${schema.to}` : "",
    notAsked.length > 0 ? `no longer asked for: ${notAsked.join(", ")}` : "",
    added.length > 0 ? `new: ${added.join(", ")}` : "",
  ].filter((fact) => fact !== "");
  return facts.length === 0 ? [] : [["changed", "code", facts.join(" · ")]];
}

function policy({ policy: verdicts }: ResumePlan): string[][] {
  if (verdicts.length === 0) return [];
  const refused = verdicts.filter(({ verdict }) => verdict !== "allow");
  const told = refused.map(
    ({ step, verdict }) =>
      `${step}: ${typeof verdict === "string" ? verdict : "deny" in verdict ? verdict.deny : verdict.ask}`,
  );
  const allowed = `${verdicts.length - refused.length} allowed`;
  return [["policy", plural(verdicts.length, "step"), [allowed, ...told].join(" · ")]];
}

function content({ content: { checked, held } }: ResumePlan): string[][] {
  if (checked === 0) return [];
  const told = held.map(({ source, name, verdict }) =>
    "park" in verdict
      ? `${source} ${name} held back: ${verdict.park}`
      : `${source} ${name} left out: ${verdict.quarantine}`,
  );
  return [["content", plural(checked, "value"), [`${checked - held.length} allowed`, ...told].join(" · ")]];
}

/** How far the prediction reaches. */
function view({ view: { end, after, announced } }: ResumePlan): string[][] {
  if (end !== "open") return end === "does not move" ? [] : [["then", "", `it ${end}`]];
  const told = announced.length === 0 ? "" : `; announced: ${announced.join(", ")}`;
  const behind = after.slice(0, 4).join(", ") + (after.length > 4 ? ", …" : "");
  return [["then", "unknown", `the next steps depend on ${behind}${told}`]];
}

const budget = (left: NonNullable<ResumePlan["budget"]>): string =>
  [
    left.costUsd === undefined ? "" : usd(left.costUsd),
    left.tokens === undefined ? "" : tokens(left.tokens),
    left.turns === undefined ? "" : plural(left.turns, "turn"),
    left.wallMs === undefined ? "" : duration(left.wallMs),
  ]
    .filter((one) => one !== "")
    .join(" · ");
