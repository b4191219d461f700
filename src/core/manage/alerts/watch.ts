import { detached } from "../../detached.ts";
import { type Kept, UNCHANGED } from "../../flow/kept.ts";
import type { EngineParts } from "../../journal/parts.ts";
import type { StoreState } from "../../store/health.ts";
import type { Slo } from "../slo/slo.ts";
import type { AwayWatch } from "./away.ts";
import { type DeliverDeps, deliverAll } from "./deliver.ts";
import type { Cause } from "./kinds.ts";
import type { AlertLease } from "./lease.ts";
import { type AlertRecord, type AlertRules, next, opened } from "./record.ts";
import { chainFindings, type Findings, runFindings, sloFindings, type WaitRules } from "./sources.ts";

export interface WatchDeps {
  readonly parts: EngineParts;
  readonly slo: Slo;
  readonly alerts: Kept<AlertRecord>;
  readonly lease: AlertLease;
  readonly away: AwayWatch;
  readonly delivery: Omit<DeliverDeps, "alerts" | "mayGoOn">;
  readonly rules: AlertRules & WaitRules & { readonly verifyRuns: number };
  readonly everyMs: number;
  readonly storeState: () => StoreState;
  /** Causes that other parts of the product find, such as reached budgets. */
  readonly more: readonly Source[];
}

/** A place to look for causes, and how often. */
export interface Source {
  readonly everyMs: number;
  look(now: number, open: readonly AlertRecord[]): Promise<Findings>;
}

const PROBE_MS = 10_000;
const FLUSH_MS = 60_000;
const SLO_MS = 60_000;
const VERIFY_MS = 3_600_000;
/** Alerts of a kind that open in one pass and are told one by one. The rest share a message. */
const MOST_SINGLE = 5;

/** Looks again and again for causes of alerts, and tells people. Any number of processes may do this at once. */
export class AlertWatch {
  readonly #deps: WatchDeps;
  readonly #sources: readonly Source[];
  readonly #lookedAt = new Map<Source, number>();
  #flushedAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | null = null;
  #passing: Promise<void> | null = null;
  #isStopped = false;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    const { parts, slo, rules } = deps;
    this.#sources = [
      { everyMs: 0, look: (now, open) => runFindings(parts.store, now, open, rules) },
      { everyMs: SLO_MS, look: async () => sloFindings(await slo.report()) },
      { everyMs: VERIFY_MS, look: (now, open) => chainFindings(parts, now, open, rules.verifyRuns) },
      ...deps.more,
    ];
  }

  /** Begins; `background`: doesn't keep the process alive. */
  start(background: boolean): void {
    this.#later(0, background);
  }

  /** Ends; `release`: and leaves the alerts to other processes at once. */
  async stop(release: boolean): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    if (!release) return;
    await this.#passing;
    if (this.#deps.lease.isHeld) await this.#deps.lease.release().catch(() => undefined);
  }

  #later(ms: number, background: boolean): void {
    if (this.#isStopped) return;
    const { clock, logger } = this.#deps.parts.ports;
    const pass = (): void => {
      this.#passing = this.pass().finally(() => this.#later(this.#deps.everyMs, background));
      detached(this.#passing, logger, "looking for alerts");
    };
    this.#cancel = clock.setTimer(pass, ms, { background });
  }

  /** Looks once. Never throws for a store that is away: that is a cause of its own. */
  async pass(): Promise<void> {
    const { parts, slo, lease, away, alerts, delivery } = this.#deps;
    const { logger } = parts.ports;
    const problem = await this.#probe();
    slo.probed(problem === null);
    if (problem !== null) return away.away(problem, lease.seen, lease.wasHeld);
    try {
      const now = await parts.store.now();
      const isHeld = await lease.take(now, away.told !== null);
      if (away.told) await this.#recordOutage(away.told, now);
      away.over();
      await this.#flush(now);
      if (!isHeld) return;
      await this.#look(now);
      const mayGoOn = (): boolean => lease.isHeld;
      await deliverAll({ ...delivery, alerts, mayGoOn }, await this.#all(), now);
    } catch (error) {
      logger.warn("alerts could not be looked after", { error: String(error) });
    }
  }

  /** Why the store counts as away; `null` when it answers. */
  async #probe(): Promise<string | null> {
    const { parts, storeState } = this.#deps;
    const { clock } = parts.ports;
    const { state, error } = storeState();
    if (state !== "ok") return error ?? state;
    let cancel = (): void => undefined;
    const late = new Promise<string>((resolve) => {
      cancel = clock.setTimer(() => resolve(`no answer within ${PROBE_MS / 1_000} s`), PROBE_MS, {
        background: true,
      });
    });
    const answer = parts.store.now().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    try {
      return await Promise.race([answer, late]);
    } finally {
      cancel();
    }
  }

  async #flush(now: number): Promise<void> {
    if (now - this.#flushedAt < FLUSH_MS) return;
    await this.#deps.slo.flush();
    this.#flushedAt = now;
  }

  /** People were told while nothing could be written: now it is on record, and its end is told like that of any alert. */
  async #recordOutage(cause: Cause, now: number): Promise<void> {
    const { alerts, rules, parts } = this.#deps;
    const id = parts.ports.ids.id();
    await alerts.change(cause.key, (current) => {
      if (current?.state === "open") return UNCHANGED;
      const open = { ...opened(cause, cause.since, id), pending: [] };
      return next(open, null, now, rules, id);
    });
  }

  async #look(now: number): Promise<void> {
    for (const source of this.#sources) {
      const last = this.#lookedAt.get(source);
      if (last !== undefined && now - last < source.everyMs) continue;
      const all = await this.#all();
      const findings = await source.look(
        now,
        all.filter(({ state }) => state === "open"),
      );
      this.#lookedAt.set(source, now);
      await this.#apply(findings, all, now);
    }
    const { alerts, rules } = this.#deps;
    for (const { key, state } of await this.#all())
      if (state === "cleared")
        await alerts.change(key, (one) =>
          one?.state === "cleared" ? next(one, null, now, rules, "") : UNCHANGED,
        );
  }

  async #apply({ causes, covers }: Findings, all: readonly AlertRecord[], now: number): Promise<void> {
    const { alerts, rules, parts } = this.#deps;
    const { ids } = parts.ports;
    const known = new Map(all.map((one) => [one.key, one]));
    const seen = new Set(causes.map(({ key }) => key));
    const single = new Map<string, number>();
    const bundle = ids.id();
    for (const cause of causes) {
      const id = ids.id();
      if (known.get(cause.key)?.state !== "open") single.set(cause.kind, (single.get(cause.kind) ?? 0) + 1);
      const shared = (single.get(cause.kind) ?? 0) > MOST_SINGLE ? `${cause.kind}-${bundle}` : null;
      await alerts.change(cause.key, (current) => {
        if (!current) return opened(cause, now, id, shared);
        const then = next(current, cause, now, rules, id);
        return then === current ? UNCHANGED : then;
      });
    }
    for (const { key, state } of all.filter(
      (one) => one.state === "open" && covers(one) && !seen.has(one.key),
    ))
      await alerts.change(key, (current) =>
        current?.state === state ? next(current, null, now, rules, ids.id()) : UNCHANGED,
      );
  }

  async #all(): Promise<readonly AlertRecord[]> {
    return (await this.#deps.alerts.all()).map(({ value }) => value);
  }
}
