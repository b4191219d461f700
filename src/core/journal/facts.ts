import { defined } from "../defined.ts";
import { isWithin, plannedBy } from "../keys.ts";
import { addUsage, type EffectPolicy, NO_USAGE, type Origin, type RunStatus, type Usage } from "../types.ts";
import type { EventMeta, JournalEvent, Migrated, Raw } from "./events.ts";
import { isDropped, rekey, renamedKey } from "./rename.ts";
import { usageOf } from "./spent.ts";

/** A recorded value by its position; `data` is present only if it was read with the tail. */
export interface Recorded {
  readonly seq: number;
  readonly data?: Raw | undefined;
}

export interface Tag {
  readonly label?: string | undefined;
  readonly pinned: boolean;
}

/** A migration that renamed steps, and its position. */
export interface Hop extends Migrated {
  readonly seq: number;
}

/** The source's child, and the position to fork it at. */
export interface ChildFork {
  readonly runId: string;
  readonly at: number;
  /** Set when the child had failed, and the source with it: it is retried from there. */
  readonly failed?: true;
}

/** A run's latest import into this store. */
export interface Imported {
  readonly seq: number;
  readonly at: number;
  /** The fingerprint of the store that it came from, and the digest of the bundle. */
  readonly from: string;
  readonly bundle: string;
  /** Its status there. */
  readonly was: RunStatus;
  readonly accepted: boolean;
}

interface Planned {
  readonly steps?: readonly string[];
  readonly of?: number;
}

/**
 * Facts about a run besides its steps: usage, decisions, agents, plans, its fork. Inside finished iterations they
 * outlive the steps they were recorded beside.
 */
export class Facts {
  /** Tokens and money, including children. */
  usage: Usage = NO_USAGE;
  turns = 0;
  /** Calls begun, counting every attempt. */
  calls = 0;
  /** Failed attempts of all steps. */
  failures = 0;
  /** The newest failed attempt. */
  failure: (Recorded & { readonly step: string; readonly at: number }) | undefined;
  /** The positions of decisions. */
  readonly decisions: number[] = [];
  readonly agents = new Map<string, Recorded>();
  /** By the scope (prefix) they were made in, or the key of a group. */
  readonly plans = new Map<string, Planned>();
  /** Checkpoints marked by the run itself. */
  readonly marks: ({ readonly seq: number } & EventMeta["checkpoint_marked"])[] = [];
  /** Names and pins set on checkpoints afterwards. */
  readonly tags = new Map<number, Tag>();
  config: Recorded | undefined;
  seed: string | undefined;
  /** The trace context in which it was started. */
  trace: string | undefined;
  /** Its migrations that renamed steps. */
  readonly hops: Hop[] = [];
  /** The positions of the last migration, and of the last decision to continue despite differences. */
  migratedAt = 0;
  waivedAt = 0;
  /** The positions of the newest edits, by kind and name. */
  readonly edits = new Map<string, number>();
  /** The positions of quarantined values (or of their markers), with the reason. */
  readonly quarantined = new Map<number, string>();
  fork: { readonly from: Origin; readonly effects: EffectPolicy; readonly seq: number } | undefined;
  /** Where it came from, and whether a person here lets it continue. */
  imported: Imported | undefined;
  /** The position of the newest claim. */
  claimedAt: number | undefined;
  /** The positions between which the last process known to be dead had the run. */
  gone: { readonly from: number; readonly to: number } | undefined;
  /** Children in progress where the run was forked, by step. */
  readonly childForks = new Map<string, ChildFork>();

  apply(event: JournalEvent): void {
    const used = usageOf(event);
    if (used) this.usage = addUsage(this.usage, used);
    switch (event.kind) {
      case "child_finished":
        this.turns += event.meta.turns ?? 0;
        return;
      case "step_started":
        if (event.meta.type === "call" || event.meta.type === "transaction") this.calls += 1;
        return;
      case "step_failed":
        this.failures += 1;
        this.failure = { step: event.step, seq: event.seq, at: event.at, data: event.data };
        return;
      case "loop_advanced":
        this.turns += event.meta.count ?? 1;
        // The plan of an iteration is irrelevant once it has ended.
        for (const key of this.plans.keys()) if (isWithin(key, event.step)) this.plans.delete(key);
        return;
      case "decision_made":
        this.decisions.push(event.seq);
        return;
      case "agent_updated":
        this.agents.set(event.meta.agent, { seq: event.seq, data: event.data });
        return;
      default:
        this.#note(event);
    }
  }

  #note(event: JournalEvent): void {
    switch (event.kind) {
      case "run_created":
        ({ seed: this.seed, trace: this.trace } = event.meta);
        return;
      case "run_claimed":
        if (event.meta.gone && this.claimedAt !== undefined)
          this.gone = { from: this.claimedAt, to: event.seq };
        this.claimedAt = event.seq;
        return;
      case "plan_made":
        this.plans.set(plannedBy(event.step), event.meta);
        return;
      case "checkpoint_marked":
        this.marks.push({ seq: event.seq, ...event.meta });
        return;
      case "checkpoint_tagged": {
        const { seq, label, pinned } = event.meta;
        const before = this.tags.get(seq);
        // An empty name removes the previous one.
        const name = label === "" ? undefined : (label ?? before?.label);
        this.tags.set(seq, { label: name, pinned: pinned ?? before?.pinned ?? false });
        return;
      }
      case "value_edited":
        if (event.meta.what === "config") this.config = { seq: event.seq, data: event.data };
        this.edits.set(`${event.meta.what} ${event.step}`, event.seq);
        return;
      case "content_checked": {
        const { verdict, reason = "", seq = event.seq - 1 } = event.meta;
        if (verdict === "quarantine" && seq > 0) this.quarantined.set(seq, reason);
        return;
      }
      case "run_forked":
        this.fork = { from: event.meta.from, effects: event.meta.effects, seq: event.seq };
        this.tags.clear();
        // The source's calls belong to the source.
        this.calls = 0;
        return;
      case "run_migrated":
        return this.#migrate(event.meta, event.seq);
      case "run_imported": {
        const { from, bundle, was, held } = event.meta;
        this.imported = { seq: event.seq, at: event.at, from, bundle, was, accepted: held !== true };
        return;
      }
      case "import_accepted":
        if (this.imported) this.imported = { ...this.imported, accepted: true };
        return;
      default:
    }
  }

  #migrate(change: Migrated, seq: number): void {
    if (change.renamed) this.hops.push({ ...change, seq });
    if (change.asIs) this.waivedAt = seq;
    else this.migratedAt = seq;
    const to = (key: string): string => renamedKey(key, change);
    for (const [place, planned] of this.plans) {
      const keys = planned.steps?.map((name) => place + name).filter((key) => !isDropped(key, change));
      if (keys)
        this.plans.set(place, { ...planned, steps: keys.map((key) => to(key).slice(to(place).length)) });
    }
    rekey(this.plans, to);
    rekey(this.childForks, to);
    rekey(this.edits, (edited) => edited.replace(/(?<= ).*/, to));
  }

  /** Plain data for a snapshot. Values stay where they are. */
  save(): SavedFacts {
    const { usage, turns, calls, failures, decisions, marks, fork } = this;
    return {
      usage,
      turns,
      calls,
      failures,
      decisions: [...decisions],
      marks: [...marks],
      agents: [...this.agents].map(([name, { seq }]) => [name, seq] as const),
      plans: [...this.plans],
      tags: [...this.tags],
      childForks: [...this.childForks],
      failure: this.failure ? { step: this.failure.step, seq: this.failure.seq, at: this.failure.at } : null,
      config: this.config?.seq ?? null,
      hops: [...this.hops],
      migratedAt: this.migratedAt,
      waivedAt: this.waivedAt,
      edits: [...this.edits],
      quarantined: [...this.quarantined],
      fork: fork ?? null,
      ...defined({ claimedAt: this.claimedAt, gone: this.gone }),
      ...defined({ seed: this.seed, trace: this.trace }),
      ...(this.imported ? { imported: this.imported } : {}),
    };
  }

  static restore(saved: SavedFacts): Facts {
    const facts = new Facts();
    facts.usage = saved.usage;
    facts.turns = saved.turns;
    facts.calls = saved.calls;
    facts.failures = saved.failures;
    facts.failure = saved.failure ?? undefined;
    facts.decisions.push(...saved.decisions);
    facts.marks.push(...saved.marks);
    for (const [name, seq] of saved.agents) facts.agents.set(name, { seq });
    for (const [step, plan] of saved.plans) facts.plans.set(step, plan);
    for (const [seq, tag] of saved.tags) facts.tags.set(seq, tag);
    for (const [step, child] of saved.childForks) facts.childForks.set(step, child);
    facts.config = saved.config === null ? undefined : { seq: saved.config };
    facts.hops.push(...saved.hops);
    facts.migratedAt = saved.migratedAt ?? 0;
    facts.waivedAt = saved.waivedAt ?? 0;
    for (const [what, seq] of saved.edits) facts.edits.set(what, seq);
    for (const [seq, reason] of saved.quarantined) facts.quarantined.set(seq, reason);
    facts.fork = saved.fork ?? undefined;
    facts.seed = saved.seed;
    facts.trace = saved.trace;
    facts.claimedAt = saved.claimedAt;
    facts.gone = saved.gone;
    facts.imported = saved.imported;
    return facts;
  }
}

export interface SavedFacts
  extends Pick<Facts, "usage" | "turns" | "calls" | "failures" | "decisions" | "marks" | "hops"> {
  readonly agents: readonly (readonly [string, number])[];
  readonly plans: readonly (readonly [string, Planned])[];
  readonly tags: readonly (readonly [number, Tag])[];
  readonly childForks: readonly (readonly [string, ChildFork])[];
  readonly failure: { readonly step: string; readonly seq: number; readonly at: number } | null;
  readonly config: number | null;
  /** Missing in older snapshots. */
  readonly migratedAt?: number;
  readonly waivedAt?: number;
  readonly edits: readonly (readonly [string, number])[];
  readonly quarantined: readonly (readonly [number, string])[];
  readonly seed?: string;
  readonly trace?: string;
  readonly claimedAt?: number;
  readonly gone?: { readonly from: number; readonly to: number };
  readonly imported?: Imported;
  readonly fork: { readonly from: Origin; readonly effects: EffectPolicy; readonly seq: number } | null;
}
