import type { StepCall } from "../../core/context.ts";
import { HoldfastError } from "../../core/errors.ts";
import { digest } from "../../core/hash.ts";
import { encode } from "../../core/values/codec.ts";
import { checkConfidence } from "../run-subtasks.ts";
import type { PhaseRun } from "./phase-run.ts";
import { plain } from "./state.ts";
import type { Criterion, Evaluation, EvaluationCall, Evaluator, Score } from "./types.ts";

/** A partial score, and what it is a score of. */
interface Scored {
  readonly score: number;
  readonly issues: readonly string[];
  readonly of: string;
}

/**
 * Evaluates an iteration: a step for each criterion, then the feedback. A score is kept across crashes, and computed
 * again only if what it is about has changed since.
 */
export async function evaluate<I>(
  phase: PhaseRun<I>,
  evaluator: Evaluator<I>,
  plan: unknown,
): Promise<Evaluation> {
  const { ctx, iteration, input } = phase;
  const results = plain(phase.state.results[phase.name] ?? {});
  const history = phase.state.evaluations[phase.name] ?? [];
  const of = digest(encode(results));
  const around = { input, plan, results, iteration, history };
  phase.change(evaluator.name, { status: "active" }, "evaluator");
  const scores: Record<string, number> = {};
  const issues: string[] = [];
  for (const criterion of evaluator.criteria) {
    const scored = await scoreOf(phase, evaluator.name, criterion, of, around);
    scores[criterion.name] = scored.score;
    issues.push(...scored.issues);
    phase.change(evaluator.name, { state: { iteration, scores: { ...scores }, issues: [...issues] } });
  }
  const score = weighted(evaluator.criteria, scores);
  const passed = score >= (evaluator.passScore ?? 0);
  const partial = { iteration, score, scores, issues, passed };
  const feedback = evaluator.feedback
    ? await ctx.step(`${evaluator.name}.feedback`, (call) =>
        evaluator.feedback?.({ ...around, ...spread(call), evaluation: partial }),
      )
    : undefined;
  const evaluation = { ...partial, feedback: feedback ?? (issues.length > 0 ? issues.join("; ") : null) };
  phase.state.evaluations[phase.name] = [...history, evaluation];
  phase.change(evaluator.name, {
    status: "completed",
    confidence: score,
    state: { iteration, scores, issues, feedback: evaluation.feedback, history: [...history, evaluation] },
  });
  phase.decide({
    agent: evaluator.name,
    type: "evaluation",
    description: passed ? `Accepted phase ${phase.name}` : `Sent phase ${phase.name} back`,
    rationale: `The score is ${score}; ${evaluator.passScore ?? 0} is needed.`,
    confidence: score,
    alternatives: passed ? ["iterate_again"] : ["accept_as_is", "request_human_review"],
  });
  await phase.save(`${phase.name} evaluated`, "evaluation_completed");
  return evaluation;
}

/** Only what belongs to the call: its other fields are the engine's. */
const spread = ({ runId, step, attempt, epoch, key, signal }: StepCall): StepCall => ({
  runId,
  step,
  attempt,
  epoch,
  key,
  signal,
});

async function scoreOf<I>(
  phase: PhaseRun<I>,
  evaluator: string,
  criterion: Criterion<I>,
  of: string,
  around: Omit<EvaluationCall<I>, keyof StepCall>,
): Promise<Scored> {
  const name = `${evaluator}.${criterion.name}`;
  const work = async (call: StepCall): Promise<Scored> => {
    const given = await criterion.score({ ...around, ...spread(call) });
    return { ...checkScore(name, given), of };
  };
  const recorded = await phase.ctx.step(name, work);
  return recorded.of === of ? recorded : phase.ctx.step(name, work);
}

function checkScore(name: string, given: Score | number): Omit<Scored, "of"> {
  const { score, issues = [] }: Score = typeof given === "object" ? given : { score: given };
  checkConfidence(`score ${name}`, score);
  if (Array.isArray(issues) && issues.every((one) => typeof one === "string")) return { score, issues };
  const why = "An evaluation records the issues that it has found.";
  throw new HoldfastError("HF-4534", { agent: name, problem: "its issues must be a list of texts", why });
}

function weighted<I>(criteria: readonly Criterion<I>[], scores: Readonly<Record<string, number>>): number {
  const total = criteria.reduce((sum, { weight = 1 }) => sum + weight, 0);
  const sum = criteria.reduce((all, { name, weight = 1 }) => all + weight * (scores[name] ?? 0), 0);
  return total === 0 ? 0 : Math.round((1_000 * sum) / total) / 1_000;
}
