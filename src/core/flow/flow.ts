import type { Workflow } from "../context.ts";
import type { JournalEvent } from "../journal/events.ts";
import { definitionOf, type ScheduleDeclaration } from "./declare.ts";
import type { FlowDeps } from "./flow-deps.ts";
import { Places } from "./places.ts";
import { Prices } from "./prices.ts";
import { Queues } from "./queues.ts";
import { RateLimits } from "./rate-limits.ts";
import { Schedules } from "./schedules.ts";
import { Ticker } from "./ticker.ts";

/** Which runs are started when, and how many at once: the parts that act beside the worker. */
export class Flow {
  readonly schedules: Schedules;
  readonly rateLimits: RateLimits;
  readonly queues: Queues;
  readonly places: Places;
  readonly prices: Prices;
  readonly #ticker: Ticker;
  readonly #declared = new Set<Workflow<never, unknown>>();

  readonly #deps: FlowDeps;

  constructor(deps: FlowDeps) {
    this.#deps = deps;
    this.schedules = new Schedules(deps);
    this.prices = new Prices(deps);
    this.rateLimits = new RateLimits(deps);
    this.queues = new Queues(deps, this.rateLimits);
    this.places = new Places({ ...deps, queues: this.queues, now: deps.timeNow });
    this.#ticker = new Ticker(deps, this.schedules);
  }

  /** What holds calls back; `undefined` in a store that can't keep limits. */
  get rates(): RateLimits | undefined {
    return this.#deps.hasDocuments ? this.rateLimits : undefined;
  }

  /** Declares the schedule that a workflow has, under the workflow's name. */
  registered(workflow: Workflow<never, unknown>): void {
    const { schedule, name } = workflow;
    if (!schedule || this.#declared.has(workflow)) return;
    this.#declared.add(workflow);
    this.declare({ name, workflow, options: schedule });
  }

  declareAll(declarations: readonly ScheduleDeclaration[]): void {
    for (const declaration of declarations) this.declare(declaration);
  }

  declare(declaration: ScheduleDeclaration): void {
    this.#deps.register(declaration.workflow);
    this.#ticker.declare({ name: declaration.name, definition: definitionOf(declaration) });
  }

  /** Begins to mind schedules. A store that can't keep any has none. */
  start(background: boolean): void {
    if (!this.#deps.hasDocuments || !this.#deps.mindsSchedules) return;
    this.#ticker.start(background);
  }

  /** Called with everything that is written to runs here. */
  heard(runId: string, events: readonly JournalEvent[]): void {
    if (events.some(({ kind }) => ENDS.includes(kind))) this.#ticker.ended(runId);
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }
}

const ENDS: readonly JournalEvent["kind"][] = ["run_completed", "run_failed", "run_cancelled"];
