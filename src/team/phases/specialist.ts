import { HoldfastError } from "../../core/errors.ts";
import type { Agent, Subtask } from "../agent.ts";
import { configOf } from "../agent-work.ts";
import { failureDetails, failureReason } from "../failure-details.ts";
import { AgentProgress, type SubtaskDone } from "../progress.ts";
import { type Job, runSubtasks } from "../run-subtasks.ts";
import type { PhaseRun } from "./phase-run.ts";
import { internalState, merged, plain, type SpecialistState } from "./state.ts";
import type { LowConfidence, LowConfidenceChoice, SpecialistInput } from "./types.ts";

const CHOICES: readonly LowConfidenceChoice[] = [
  "spawn_additional_specialist",
  "request_human_review",
  "proceed_with_low_confidence",
];

/** A specialist at work in its phase: milestones, restarts, rollback, and what is done about low confidence. */
export class Specialist<I> {
  readonly agent: Agent<SpecialistInput<I>>;
  readonly #phase: PhaseRun<I>;
  readonly #plan: unknown;
  #progress: AgentProgress;
  /** The state at the last checkpoint of the phase. */
  #safe: AgentProgress;
  #began = 0;

  constructor(phase: PhaseRun<I>, agent: Agent<SpecialistInput<I>>, plan: unknown) {
    this.agent = agent;
    this.#phase = phase;
    this.#plan = plan;
    this.#progress = new AgentProgress(agent as Agent);
    this.#safe = this.#progress.snapshot();
  }

  get name(): string {
    return this.agent.type;
  }

  /** Runs it to its end. Returns its state, and the last error if it did not complete. */
  async run(): Promise<{ readonly state: SpecialistState; readonly error?: unknown }> {
    let error: unknown;
    const state = await this.#phase.ctx.loop<Partial<SpecialistState>>(this.name, {}, async (draft, turn) => {
      error = await this.#work();
      Object.assign(draft, this.#saved(error === undefined));
      return turn.done();
    });
    const saved = plain(state) as SpecialistState;
    this.#adopt(saved);
    return { state: saved, error };
  }

  /** What the journal says about a specialist that ended before this process took the run up. */
  #adopt({ agent, decisions, outputs, history, results }: SpecialistState): void {
    const { state, name } = this.#phase;
    state.agents[this.name] = agent;
    state.decisions = merged(state.decisions, decisions);
    state.history = merged(state.history, history);
    const known = new Set(state.outputs.map(({ ref }) => ref));
    state.outputs.push(...outputs.filter(({ ref }) => !known.has(ref)));
    state.results[name] = { ...state.results[name], [this.name]: results };
  }

  #saved(completed: boolean): SpecialistState {
    const { state, phase } = this.#phase;
    const own = <T extends { readonly agent: string }>(list: readonly T[]): T[] =>
      list.filter(({ agent }) => agent === this.name);
    const { results } = this.#progress;
    return plain({
      agent: this.#phase.agent(this.name),
      decisions: own(state.decisions),
      outputs: own(state.outputs).filter((one) => one.phase === phase),
      history: own(state.history),
      results,
      completed,
    });
  }

  /** Returns the error when every attempt has failed. */
  async #work(): Promise<unknown> {
    const { attempts } = this.#phase.parts.settings;
    this.#phase.change(this.name, { status: "launched" });
    let error: unknown;
    for (this.#began = 1; this.#began <= attempts; this.#began++) {
      try {
        await runSubtasks(this.#phase.ctx, this.#progress, this.#job());
        this.#phase.change(this.name, { status: "completed", ...this.#told() });
        await this.#phase.save(`${this.name} finished`, "specialist_finished");
        return undefined;
      } catch (problem) {
        error = problem;
        if (this.#began < attempts) this.#restart(problem);
      }
    }
    this.#rollBack(error);
    return error;
  }

  #told() {
    const { confidence, blockers, outputs } = this.#progress;
    const ref = outputs.at(-1)?.ref;
    return {
      ...(confidence === null ? {} : { confidence }),
      blockers,
      ...(ref === undefined ? {} : { output_ref: ref }),
      state: internalState(this.#progress),
    };
  }

  #job(): Job {
    const { ctx, input, outputs, iteration, feedback } = this.#phase;
    const { type, version } = this.agent;
    const given: SpecialistInput<I> = { input, plan: this.#plan, outputs, iteration, feedback };
    return {
      identity: { id: ctx.runId, type, version, analysis_id: ctx.runId, stock_ticker: "" },
      input: given,
      config: configOf(ctx, this.agent as Agent),
      team: outputs[this.#phase.name] ?? {},
      stepName: (subtask) => subtask,
      ended: async (subtask, done) => this.#milestone(subtask, done),
      failed: async (subtask, error) => this.#failed(subtask, error),
    };
  }

  /** A subtask has ended: its output and its confidence count. */
  async #milestone({ name: subtask, deliverable }: Subtask, { report = {} }: SubtaskDone): Promise<void> {
    const { state, phase } = this.#phase;
    const ref = report.output_ref ?? `phase${phase}/${this.name}/${subtask}`;
    state.outputs.push({ phase, agent: this.name, subtask, deliverable, ref });
    const { confidence } = report;
    if (confidence !== undefined)
      state.history.push({ timestamp: this.#phase.time(), phase, agent: this.name, subtask, confidence });
    const before = this.#phase.agent(this.name).confidence;
    this.#phase.change(this.name, { status: "active", ...this.#told(), output_ref: ref });
    const { threshold } = this.#phase.parts.settings;
    const side = (value: number | null): boolean => value === null || value >= threshold;
    if (confidence === undefined || side(before) === side(confidence)) return;
    const to = side(confidence) ? "above" : "below";
    await this.#phase.save(`${this.name} ${to} ${threshold}`, "confidence_threshold_crossed");
    this.#safe = this.#progress.snapshot();
  }

  async #failed(subtask: Subtask, error: unknown): Promise<void> {
    this.#phase.change(this.name, { status: "failed", state: internalState(this.#progress) });
    await this.#phase.save(`${this.name} failed`, "error_encountered", {
      error: { agent: this.name, subtask: subtask.name, attempt: this.#began, ...failureDetails(error) },
    });
  }

  #restart(error: unknown): void {
    const { attempts } = this.#phase.parts.settings;
    this.#phase.decide({
      agent: this.name,
      type: "restart_specialist",
      description: `Restarted ${this.name} (attempt ${this.#began + 1} of ${attempts})`,
      rationale: `It failed with ${failureReason(error)}. Its ${this.#progress.text.text} stay.`,
      alternatives: ["rollback_to_previous_checkpoint", "fail_the_phase"],
    });
  }

  #rollBack(error: unknown): void {
    const { factor } = this.#phase.parts.settings;
    const { confidence: before } = this.#progress;
    this.#progress = this.#safe.snapshot();
    const confidence = Math.round(1_000 * (before ?? this.#safe.confidence ?? 0.5) * factor) / 1_000;
    const { state, phase } = this.#phase;
    const kept = new Set(this.#progress.completed);
    state.outputs = state.outputs.filter(
      (one) => one.agent !== this.name || one.phase !== phase || kept.has(one.subtask),
    );
    this.#progress.confidence = confidence;
    const timestamp = this.#phase.time();
    state.history.push({ timestamp, phase, agent: this.name, subtask: "rollback", confidence });
    this.#phase.decide({
      agent: this.name,
      type: "rollback",
      description: `Rolled ${this.name} back to the previous checkpoint of the phase`,
      rationale: `It failed ${this.#phase.parts.settings.attempts} times, last with ${failureReason(error)}. Its confidence is now ${confidence}.`,
      confidence,
      alternatives: ["restart_specialist", "fail_the_phase"],
    });
    this.#phase.change(this.name, { ...this.#told(), status: "rolled_back", confidence });
  }
}

/** Decides what to do about a specialist whose confidence is low, and records it. Returns the specialist to add. */
export async function settleConfidence<I>(
  phase: PhaseRun<I>,
  agent: string,
): Promise<Agent<SpecialistInput<I>> | undefined> {
  const { threshold } = phase.parts.settings;
  const { confidence, blockers } = phase.agent(agent);
  if (confidence === null || confidence >= threshold) return undefined;
  const low: LowConfidence = { agent, confidence, threshold, blockers, phase: phase.name };
  const choice = await choose(phase, low);
  phase.decide({
    agent: phase.definition.orchestrator?.name ?? "orchestrator",
    type: choice,
    description: DESCRIBED[choice],
    rationale: `${agent} confidence (${confidence}) below threshold (${threshold})`,
    confidence,
    alternatives: CHOICES.filter((one) => one !== choice),
  });
  await phase.save(`${agent} low confidence`, "confidence_threshold_crossed");
  if (choice === "spawn_additional_specialist") return phase.definition.additional?.(low);
  if (choice === "request_human_review") await review(phase, low);
  return undefined;
}

const DESCRIBED: Readonly<Record<LowConfidenceChoice, string>> = {
  spawn_additional_specialist: "Spawned additional specialist due to low confidence",
  request_human_review: "Asked a person to review because of low confidence",
  proceed_with_low_confidence: "Went on in spite of low confidence",
};

async function choose<I>(phase: PhaseRun<I>, low: LowConfidence): Promise<LowConfidenceChoice> {
  const { onLowConfidence } = phase.definition;
  const hasAdditional = phase.definition.additional !== undefined;
  const usual = hasAdditional ? "spawn_additional_specialist" : "proceed_with_low_confidence";
  if (typeof onLowConfidence !== "function") return onLowConfidence ?? usual;
  const choice = await phase.ctx.step(`${low.agent} confidence`, () => onLowConfidence(low));
  if (CHOICES.includes(choice) && (choice !== "spawn_additional_specialist" || hasAdditional)) return choice;
  const problem = CHOICES.includes(choice)
    ? "the phase has no additional specialist to spawn"
    : `${String(choice).slice(0, 80)} is not one of ${CHOICES.join(", ")}`;
  const why = "onLowConfidence decides what is done about low confidence.";
  throw new HoldfastError("HF-4534", { agent: phase.name, problem, why });
}

async function review<I>(phase: PhaseRun<I>, low: LowConfidence): Promise<void> {
  const answer = await phase.ctx.gate(`${low.agent} review`, {
    show: { ...low, outputs: phase.state.outputs.filter(({ agent }) => agent === low.agent) },
    choices: ["continue", "stop"],
    text: true,
  });
  if (answer.choice === "continue") return;
  const why = answer.text ?? `The confidence of ${low.agent} is ${low.confidence}.`;
  throw new HoldfastError("HF-4530", { phase: phase.name, problem: `${answer.actor} stopped it`, why });
}
