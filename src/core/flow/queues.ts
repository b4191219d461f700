import { badOption, checkKeys, checkObject, checkWhole, isRecord, keysOf } from "../check-options.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { type Act, checkAct } from "../journal/act.ts";
import { checkNamed } from "../names.ts";
import type { QueueOptions } from "../queue-options.ts";
import { checkLabels } from "../tags.ts";
import { dataDigest } from "../values/codec.ts";
import { Declarations } from "./declarations.ts";
import type { FlowDeps } from "./flow-deps.ts";
import type { CountedGrant } from "./grants.ts";
import { Kept, UNCHANGED } from "./kept.ts";
import type { RateLimits } from "./rate-limits.ts";
import { isFairLabel, labelOf } from "./turns.ts";

/** A queue as it is kept. What stands in it is counted from the runs themselves. */
interface QueueRecord {
  readonly definition: QueueOptions;
  readonly declared?: string;
  readonly paused: { readonly at: number; readonly actor?: string; readonly reason?: string } | null;
}

/** A queue as people see it. */
export interface QueueView extends QueueOptions {
  readonly name: string;
  readonly version: string;
  readonly paused: QueueRecord["paused"];
  readonly isDeclared: boolean;
}

/** How long a change by another process may be unknown here. */
const KNOWN_MS = 1_000;

const OPTIONS = keysOf<QueueOptions>({ concurrency: true, perKey: true, fairBy: true, rate: true });

/**
 * Queues limit how many of the runs that stand in them are advanced at once. A run stands in the queue that it was
 * started with; a queue that isn't defined has no limits.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * const ship = workflow("ship", async (ctx, order: string) => ctx.step("send", () => `Sent ${order}`));
 *
 * const engine = createEngine({
 *   store: createMemoryStore(),
 *   workflows: [ship],
 *   queues: { orders: { concurrency: 5, perKey: 1 } },
 * });
 * console.log(await engine.queues.get("orders"));
 * ```
 */
export class Queues {
  readonly #deps: FlowDeps;
  readonly #kept: Kept<QueueRecord>;
  readonly #rates: RateLimits;
  readonly #declared = new Declarations<QueueOptions>((name, definition) => this.#declare(name, definition));
  #known: { readonly queues: ReadonlyMap<string, QueueRecord>; readonly at: number } | undefined;

  constructor(deps: FlowDeps, rates: RateLimits) {
    this.#deps = deps;
    this.#rates = rates;
    const { documents, newVersion } = deps;
    this.#kept = new Kept({ documents, newVersion, kind: "queue", isValid: isQueueRecord });
  }

  /** Defines a queue, or changes it. Runs that stand in it stay. */
  async set(name: string, options: QueueOptions, act: Act = {}): Promise<QueueView> {
    const definition = checkQueue(options);
    return this.#change(name, act, "queue set", (current) => ({ paused: null, ...current, definition }));
  }

  /** All queues that are defined, in order of their names. */
  async list(): Promise<readonly QueueView[]> {
    await this.#declared.written();
    return (await this.#kept.all()).map(({ key, version, value }) => viewOf(key, version, value));
  }

  /** One queue, or `null`. */
  async get(name: string): Promise<QueueView | null> {
    checkNamed("queue", name);
    await this.#declared.written();
    const held = await this.#kept.read(name);
    return held && viewOf(name, held.version, held.value);
  }

  /** Takes up no more runs of the queue. Runs in progress continue until they end or wait. */
  async pause(name: string, act: Act = {}): Promise<QueueView> {
    const { actor, reason } = act;
    const paused = { at: await this.#deps.now(), ...defined({ actor, reason }) };
    return this.#change(name, act, "queue paused", (current) => ({
      definition: {},
      ...current,
      paused: current?.paused ?? paused,
    }));
  }

  /** Takes up runs of the queue again. */
  async resume(name: string, act: Act = {}): Promise<QueueView> {
    return this.#change(name, act, "queue resumed", (current) => {
      if (current === null) throw new HoldfastError("HF-5100", { kind: "queue", name });
      return { ...current, paused: null };
    });
  }

  /** Removes the definition. Runs that stand in the queue have no limits from then on. */
  async delete(name: string, act: Act = {}): Promise<void> {
    this.#check(act);
    if ((await this.get(name)) === null) throw new HoldfastError("HF-5100", { kind: "queue", name });
    await this.#kept.change(name, () => null);
    this.#log("queue deleted", name, act);
  }

  /** @internal */
  declare(name: string, options: QueueOptions): void {
    checkNamed("queue", name);
    this.#declared.add(name, checkQueue(options));
  }

  /** The definition of a run's queue, as known here a moment ago. @internal */
  async of(name: string): Promise<QueueRecord | undefined> {
    const { clock, hasDocuments } = this.#deps;
    if (!hasDocuments) return undefined;
    await this.#declared.written();
    const at = clock.monotonic();
    if (this.#known === undefined || at - this.#known.at > KNOWN_MS)
      this.#known = { queues: new Map((await this.#kept.all()).map(({ key, value }) => [key, value])), at };
    return this.#known.queues.get(name);
  }

  /** Counts a run as taken up, or returns when to ask again; `null` when its queue has no rate. @internal */
  async takeUp(name: string, { rate }: QueueOptions): Promise<number | CountedGrant | null> {
    return rate ? this.#rates.takeNow(rateOf(name)) : null;
  }

  async #change(
    name: string,
    act: Act,
    what: string,
    next: (current: QueueRecord | null) => QueueRecord,
  ): Promise<QueueView> {
    checkNamed("queue", name);
    this.#check(act);
    await this.#declared.written();
    const held = await this.#kept.change(name, next);
    if (!held) throw new HoldfastError("HF-5100", { kind: "queue", name });
    await this.#setRate(name, held.value.definition);
    this.#warnIfInexact(name, held.value.definition);
    this.#log(what, name, act);
    return viewOf(name, held.version, held.value);
  }

  /** The rate at which runs begin is a rate limit of its own. */
  async #setRate(name: string, { rate }: QueueOptions): Promise<void> {
    if (rate) await this.#rates.define(rateOf(name), rate);
  }

  /** Not every store can count the runs of a queue and claim one in one transaction. */
  #warnIfInexact(queue: string, { concurrency, perKey }: QueueOptions): void {
    const { store, logger } = this.#deps;
    if (store.capabilities.limits === true || (concurrency ?? perKey) === undefined) return;
    const message =
      "the store counts a queue's places before the claim: processes that claim at once may exceed a limit";
    logger.warn(message, { queue, store: store.name });
  }

  async #declare(name: string, definition: QueueOptions): Promise<void> {
    const declared = dataDigest(definition);
    const held = await this.#kept.change(name, (current) =>
      current?.declared === declared ? UNCHANGED : { paused: null, ...current, definition, declared },
    );
    // What an operator has set since then stays.
    await this.#setRate(name, held?.value.definition ?? definition);
    this.#warnIfInexact(name, held?.value.definition ?? definition);
    this.#known = undefined;
  }

  #check(act: Act): void {
    checkKeys(act, ["actor", "reason"]);
    checkAct(act);
    this.#deps.checkReason(act);
  }

  #log(message: string, queue: string, { actor = "", reason = "" }: Act): void {
    this.#known = undefined;
    this.#deps.logger.info(message, { queue, actor, reason });
  }
}

const rateOf = (queue: string): string => `queue ${queue}`;

function checkQueue(options: QueueOptions): QueueOptions {
  checkKeys(options, OPTIONS);
  const { concurrency, perKey, fairBy, rate } = defined(options);
  if (concurrency !== undefined) checkWhole("concurrency", concurrency, 1, 1e6);
  if (perKey !== undefined) checkWhole("perKey", perKey, 1, 1e6);
  if (rate !== undefined) checkObject("rate", rate);
  if (rate !== undefined) checkWhole("rate.calls", rate.calls, 1, 1e9);
  if (fairBy !== undefined) checkFairBy(fairBy);
  return defined({ concurrency, perKey, fairBy, rate });
}

function checkFairBy(fairBy: string): void {
  if (fairBy === "key") return;
  if (!isFairLabel(fairBy))
    throw badOption("fairBy", 'it must be "key", or "labels." and the name of a label');
  checkLabels({ [labelOf(fairBy)]: "" });
}

const viewOf = (name: string, version: string, { definition, paused, declared }: QueueRecord): QueueView => ({
  name,
  version,
  ...definition,
  paused,
  isDeclared: declared !== undefined,
});

function isQueueRecord(value: unknown): value is QueueRecord {
  if (!isRecord(value)) return false;
  const { definition, paused }: Partial<Record<keyof QueueRecord, unknown>> = value;
  return isRecord(definition) && (paused === null || isRecord(paused));
}
