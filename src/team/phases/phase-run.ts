import type { Context, StepCall, StepOptions } from "../../core/context.ts";
import type { CheckpointTrigger } from "../../core/options.ts";
import type { PhaseCheckpointRow } from "../../core/records.ts";
import { checkConfidence } from "../run-subtasks.ts";
import { phaseRow } from "./checkpoint.ts";
import type { PhaseSettings } from "./settings.ts";
import { type PhaseAgent, type PhaseDecisionMade, plain, type TeamState } from "./state.ts";
import type {
  AgentChange,
  ManualTrigger,
  Phase,
  PhaseContext,
  PhaseDecision,
  PhaseOutputs,
} from "./types.ts";

/** What all phases of a run share. */
export interface RunParts {
  readonly ctx: Context;
  readonly input: unknown;
  readonly settings: PhaseSettings;
  latest: PhaseCheckpointRow | undefined;
}

/** One iteration of a phase: its state, and the orchestrator's hooks. */
export class PhaseRun<I> implements PhaseContext<I> {
  readonly parts: RunParts;
  readonly definition: Phase<I>;
  readonly phase: number;
  readonly iteration: number;
  readonly state: TeamState;
  feedback: string | null;
  readonly #labels = new Map<string, number>();

  constructor(parts: RunParts, definition: Phase<I>, phase: number, iteration: number, state: TeamState) {
    this.parts = parts;
    this.definition = definition;
    this.phase = phase;
    this.iteration = iteration;
    this.state = state;
    this.feedback = state.evaluations[definition.name]?.at(-1)?.feedback ?? null;
  }

  get ctx(): Context {
    return this.parts.ctx;
  }

  get name(): string {
    return this.definition.name;
  }

  get input(): I {
    return this.parts.input as I;
  }

  get outputs(): PhaseOutputs {
    return plain(this.state.results);
  }

  get #orchestrator(): string {
    return this.definition.orchestrator?.name ?? "orchestrator";
  }

  step<T>(name: string, work: (call: StepCall) => T | Promise<T>, options?: StepOptions<T>): Promise<T> {
    return this.ctx.step(`${this.#orchestrator}.${name}`, work, options);
  }

  async createCheckpoint({
    phase = this.phase,
    type = "user_requested",
  }: {
    readonly phase?: number;
    readonly type?: ManualTrigger;
  } = {}): Promise<string> {
    const trigger = type === "phase_start" ? "phase_started" : type;
    return this.save(`${this.name} ${type}`, trigger, { phase });
  }

  updateAgentState(agent: string, change: AgentChange): void {
    this.change(agent, typeof change === "string" ? { status: change } : change);
  }

  recordDecision(decision: PhaseDecision): void {
    this.decide(decision);
  }

  loadLatest(): PhaseCheckpointRow | undefined {
    return this.parts.latest;
  }

  /** An agent's state in this run; a new one has the role of a specialist. */
  agent(name: string, role: PhaseAgent["agent_type"] = "specialist"): PhaseAgent {
    this.state.agents[name] ??= {
      agent_type: role,
      status: "pending",
      confidence: null,
      blockers: [],
      last_decision: null,
      output_ref: null,
      state: null,
    };
    return this.state.agents[name] as PhaseAgent;
  }

  /** Changes an agent's state, and records it beside the steps. */
  change(name: string, change: Exclude<AgentChange, string>, role?: PhaseAgent["agent_type"]): PhaseAgent {
    const agent = this.agent(name, role);
    const { status, confidence, blockers, output_ref, state } = change;
    if (status !== undefined) agent.status = status;
    if (confidence !== undefined) agent.confidence = checkConfidence(name, confidence);
    if (blockers !== undefined) agent.blockers = [...blockers];
    if (output_ref !== undefined) agent.output_ref = output_ref;
    if (state !== undefined) agent.state = state;
    this.ctx.agent(name, {
      type: agent.agent_type,
      status: agent.status,
      ...(agent.confidence === null ? {} : { confidence: agent.confidence }),
      blockers: agent.blockers,
      ...(state === undefined ? {} : { state }),
    });
    return agent;
  }

  /** Records a decision. */
  decide(decision: PhaseDecision): PhaseDecisionMade {
    const { agent = this.#orchestrator, type = "workflow_adjustment" } = decision;
    const { description, rationale = null, confidence = null, alternatives = [] } = decision;
    if (confidence !== null) checkConfidence(agent, confidence);
    const timestamp = this.time();
    const made = { timestamp, agent, type, description, rationale, confidence };
    const full = { ...made, alternatives_considered: [...alternatives] };
    this.state.decisions.push(full);
    const role = agent === this.#orchestrator ? "orchestrator" : undefined;
    this.agent(agent, role).last_decision = type;
    this.ctx.decide({
      agent,
      type,
      description,
      ...(rationale === null ? {} : { rationale }),
      ...(confidence === null ? {} : { confidence }),
      alternatives,
    });
    return full;
  }

  /** The time, the same on every replay. */
  time(): string {
    return new Date(this.ctx.now()).toISOString();
  }

  /** Saves a checkpoint of the phase, unless its trigger is switched off. Returns its id. */
  async save(
    label: string,
    trigger: CheckpointTrigger,
    more: Partial<PhaseCheckpointRow> = {},
  ): Promise<string> {
    if (!this.parts.settings.isOn(trigger)) return "";
    const count = (this.#labels.get(label) ?? 0) + 1;
    this.#labels.set(label, count);
    const unique = count === 1 ? label : `${label} ${count}`;
    const { ctx, settings } = this.parts;
    const base = phaseRow(ctx, this.state, settings.threshold, {
      id: ctx.uuid(`checkpoint ${unique}`),
      phase: this.phase,
      timestamp: this.time(),
      trigger,
      where: { phase: this.name, iteration: this.iteration },
    });
    const row = { ...base, ...more };
    await ctx.checkpoint(unique, { trigger, record: { table: "phase_checkpoints", row } });
    this.parts.latest = row;
    return row.checkpoint_id;
  }
}
