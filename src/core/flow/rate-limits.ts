import { checkKeys, checkNumber, checkWhole, isRecord } from "../check-options.ts";
import { defined } from "../defined.ts";
import { detached } from "../detached.ts";
import { HoldfastError } from "../errors.ts";
import type { Grant } from "../guards/rate-gate.ts";
import { type Act, checkAct } from "../journal/act.ts";
import { checkNamed } from "../names.ts";
import type { LimitUse, RateLimit } from "../rate-limit.ts";
import { dataDigest } from "../values/codec.ts";
import { Declarations } from "./declarations.ts";
import type { FlowDeps } from "./flow-deps.ts";
import { BUSY_MS, CountedGrant, FREE, type GrantDeps, Lead, lookAt, MOST_TRIES } from "./grants.ts";
import { Kept, UNCHANGED } from "./kept.ts";
import { ask, askNow, isTooMuch, type LimitRecord, MOST_HELD_MS, swept, usedNow } from "./window.ts";

/** A rate limit as people see it. */
export interface RateLimitView extends RateLimit {
  readonly name: string;
  readonly version: string;
  readonly periodMs: number;
  readonly used: { readonly calls: number; readonly tokens: number };
  /** How many runs wait for it. */
  readonly waiting: number;
  /** Until when nothing is granted, because a receiver or a person said so. */
  readonly heldUntil: number | null;
  readonly heldWhy: string | null;
  readonly isDeclared: boolean;
}

/** How long it may be unknown here that another process has defined an optional limit. */
const KNOWN_MS = 2_000;

const MINUTE = 60_000;

const ONE_CALL = { calls: 1, tokens: 0 };

interface Pending {
  readonly who: string;
  readonly calls: number;
  readonly tokens: number;
  readonly settle: (answer: number | Grant) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Limits of calls or tokens per period, shared by all processes on a store. A step names the limit that it uses with
 * its `limit` option, and waits until there is room.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * const ask = workflow("ask", async (ctx, question: string) =>
 *   ctx.step("model", () => `An answer to ${question}`, { limit: "openai" }),
 * );
 *
 * const engine = createEngine({
 *   store: createMemoryStore(),
 *   workflows: [ask],
 *   rateLimits: { openai: { calls: 100, periodMs: 60_000 } },
 * });
 * await engine.start(ask, "What is durable?");
 * ```
 */
export class RateLimits {
  readonly #deps: FlowDeps;
  readonly #kept: Kept<LimitRecord>;
  readonly #grants: GrantDeps;
  /** Runs take longer to begin than calls. */
  readonly #takeUps: GrantDeps;
  readonly #pending = new Map<string, Pending[]>();
  readonly #declared = new Declarations<LimitRecord["definition"]>((name, limit) =>
    this.#declare(name, limit),
  );
  #names: { readonly known: ReadonlySet<string>; readonly at: number } | undefined;

  constructor(deps: FlowDeps) {
    this.#deps = deps;
    this.#kept = new Kept({
      documents: deps.documents,
      newVersion: deps.newVersion,
      kind: "limit",
      isValid: isLimitRecord,
    });
    const { clock, now } = deps;
    this.#grants = { kept: this.#kept, clock, now, lead: new Lead() };
    this.#takeUps = { ...this.#grants, lead: new Lead() };
  }

  /** Defines a limit, or changes it. What was used so far still counts. */
  async set(name: string, limit: RateLimit, act: Act = {}): Promise<RateLimitView> {
    this.#check(act);
    const view = await this.define(name, limit);
    this.#log("rate limit set", name, act);
    return view;
  }

  /** @internal */
  async define(name: string, limit: RateLimit): Promise<RateLimitView> {
    checkNamed("limit", name);
    const definition = checkLimit(limit);
    const held = await this.#kept.change(name, (current) =>
      current !== null && dataDigest(current.definition) === dataDigest(definition)
        ? UNCHANGED
        : { ...(current ?? empty(definition)), definition },
    );
    this.#names = undefined;
    return this.#view(name, held);
  }

  /** All limits, in order of their names. */
  async list(): Promise<readonly RateLimitView[]> {
    await this.#declared.written();
    const now = await this.#deps.now();
    return (await this.#kept.all()).map(({ key, version, value }) => viewOf(key, version, value, now));
  }

  /** One limit, or `null`. */
  async get(name: string): Promise<RateLimitView | null> {
    checkNamed("limit", name);
    await this.#declared.written();
    const held = await this.#kept.read(name);
    return held && viewOf(name, held.version, held.value, await this.#deps.now());
  }

  /** Removes a limit. Steps that name it are refused from then on, unless it is optional for them. */
  async delete(name: string, act: Act = {}): Promise<void> {
    this.#check(act);
    if ((await this.get(name)) === null) throw new HoldfastError("HF-5100", { kind: "limit", name });
    await this.#kept.change(name, () => null);
    this.#names = undefined;
    this.#log("rate limit deleted", name, act);
  }

  /** Grants nothing for a while, to any run in any process; 0 ends that. */
  async hold(name: string, ms: number, act: Act = {}): Promise<RateLimitView> {
    checkNamed("limit", name);
    checkNumber("ms", ms, { least: 0, most: MOST_HELD_MS });
    this.#check(act);
    const until = (await this.#deps.now()) + ms;
    const held = await this.#kept.change(name, (current) => {
      if (current === null) throw new HoldfastError("HF-5100", { kind: "limit", name });
      return { ...current, heldUntil: ms === 0 ? 0 : until, heldWhy: act.reason ?? null };
    });
    return this.#view(name, held);
  }

  /** @internal */
  declare(name: string, limit: RateLimit): void {
    checkNamed("limit", name);
    this.#declared.add(name, checkLimit(limit));
  }

  /** @internal */
  async take(use: LimitUse, who: string): Promise<number | Grant> {
    await this.#declared.written();
    if (use.isOptional && !(await this.#isKnown(use.name))) return FREE;
    return new Promise((settle, fail) => {
      const line = this.#pending.get(use.name) ?? [];
      line.push({ who, calls: 1, tokens: use.tokens ?? 0, settle, fail });
      if (this.#pending.has(use.name)) return;
      this.#pending.set(use.name, line);
      detached(this.#serve(use, line), this.#deps.logger, "serving a rate limit");
    });
  }

  /** Takes one call if there is room now, without a place in the line; otherwise returns when to ask again. @internal */
  async takeNow(name: string): Promise<number | CountedGrant | null> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { moment, held } = await lookAt(this.#takeUps, name);
      if (!held) return null;
      const asked = askNow(held.value, ONE_CALL, moment.now, this.#takeUps.lead.ms);
      if (asked.until !== null) return asked.until;
      if (await this.#kept.replace(name, held.version, asked.record))
        return new CountedGrant(this.#takeUps, name, ONE_CALL, asked.dated, moment);
    }
    return (await this.#deps.now()) + BUSY_MS;
  }

  /** @internal */
  async heldBack(name: string, ms: number): Promise<void> {
    const until = (await this.#deps.now()) + Math.min(ms, MOST_HELD_MS);
    await this.#kept.change(name, (current) =>
      current === null || current.heldUntil >= until
        ? UNCHANGED
        : { ...current, heldUntil: until, heldWhy: "The receiver asked to wait." },
    );
  }

  /** Serves all who ask in this process, as many as possible with each write. */
  async #serve(use: LimitUse, line: Pending[]): Promise<void> {
    for (let tries = 0; line.length > 0; tries++) {
      const served = [...line];
      const answers = await this.#answers(use, served, tries >= MOST_TRIES).catch((error: unknown) =>
        served.map(() => (use.isOptional && HoldfastError.is(error, "HF-5120") ? FREE : { error })),
      );
      if (answers === undefined) continue;
      tries = 0;
      line.splice(0, served.length);
      served.forEach(({ settle, fail }, index) => {
        const answer = answers[index] ?? FREE;
        if (typeof answer === "object" && "error" in answer) fail(answer.error);
        else settle(answer);
      });
    }
    this.#pending.delete(use.name);
  }

  /** What each was granted, or when it may come back, all in one write; `undefined` when another process was faster. */
  async #answers(
    { name, isOptional }: LimitUse,
    served: readonly Pending[],
    isLast: boolean,
  ): Promise<readonly (number | Grant | { readonly error: unknown })[] | undefined> {
    const { moment, held } = await lookAt(this.#grants, name);
    const { now } = moment;
    if (!held) throw new HoldfastError("HF-5120", { name });
    let record = held.value;
    const answers = served.map((pending) => {
      const asked = isOptional ? atMost(record, pending) : pending;
      if (isTooMuch(record, asked)) return { error: tooMuch(name, record, asked) };
      const answered = ask(record, asked, now, this.#grants.lead.ms);
      record = answered.record;
      if (answered.until !== null) return answered.until;
      return new CountedGrant(this.#grants, name, asked, answered.dated, moment);
    });
    if (await this.#kept.replace(name, held.version, record)) return answers;
    // Nothing was granted, because it couldn't be written.
    return isLast ? served.map(() => now + BUSY_MS) : undefined;
  }

  async #isKnown(name: string): Promise<boolean> {
    const { clock, hasDocuments } = this.#deps;
    if (!hasDocuments) return false;
    const at = clock.monotonic();
    if (this.#names === undefined || at - this.#names.at > KNOWN_MS)
      this.#names = { known: new Set((await this.#kept.all()).map(({ key }) => key)), at };
    return this.#names.known.has(name);
  }

  /** Creates a declared limit if it is missing, and replaces it if its declaration has changed. */
  async #declare(name: string, definition: LimitRecord["definition"]): Promise<void> {
    const declared = dataDigest(definition);
    await this.#kept.change(name, (current) =>
      current?.declared === declared
        ? UNCHANGED
        : { ...(current ?? empty(definition)), definition, declared },
    );
  }

  async #view(name: string, held: { version: string; value: LimitRecord } | null): Promise<RateLimitView> {
    if (!held) throw new HoldfastError("HF-5100", { kind: "limit", name });
    return viewOf(name, held.version, held.value, await this.#deps.now());
  }

  #check(act: Act): void {
    checkKeys(act, ["actor", "reason"]);
    checkAct(act);
    this.#deps.checkReason(act);
  }

  #log(message: string, limit: string, { actor = "", reason = "" }: Act): void {
    this.#deps.logger.info(message, { limit, actor, reason });
  }
}

const empty = (definition: LimitRecord["definition"]): LimitRecord => ({
  definition,
  used: [],
  line: [],
  heldUntil: 0,
  heldWhy: null,
});

/** An estimate that is larger than the limit counts as the whole of it. */
const atMost = ({ definition: { tokens = Infinity } }: LimitRecord, asked: Pending): Pending => ({
  ...asked,
  tokens: Math.min(asked.tokens, tokens),
});

function tooMuch(name: string, { definition }: LimitRecord, { tokens }: Pending): HoldfastError {
  return new HoldfastError("HF-5121", { name, asked: tokens, most: definition.tokens ?? 0 });
}

function checkLimit(limit: RateLimit): LimitRecord["definition"] {
  checkKeys(limit, ["calls", "tokens", "periodMs"]);
  const { calls, tokens, periodMs = MINUTE } = limit;
  if (calls === undefined && tokens === undefined) checkWhole("calls", calls);
  if (calls !== undefined) checkWhole("calls", calls, 1, 1e9);
  if (tokens !== undefined) checkWhole("tokens", tokens, 1, 1e12);
  checkWhole("periodMs", periodMs, 100, 86_400_000);
  return { periodMs, ...defined({ calls, tokens }) };
}

function viewOf(name: string, version: string, record: LimitRecord, now: number): RateLimitView {
  const { heldUntil, heldWhy, line } = swept(record, now);
  const isHeld = heldUntil > now;
  return {
    name,
    version,
    ...record.definition,
    used: usedNow(record, now),
    waiting: line.length,
    heldUntil: isHeld ? heldUntil : null,
    heldWhy: isHeld ? heldWhy : null,
    isDeclared: record.declared !== undefined,
  };
}

function isLimitRecord(value: unknown): value is LimitRecord {
  if (!isRecord(value)) return false;
  const { definition, used, line, heldUntil }: Partial<Record<keyof LimitRecord, unknown>> = value;
  return isRecord(definition) && Array.isArray(used) && Array.isArray(line) && typeof heldUntil === "number";
}
