import { openSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";
import type { JournalEvent, StepStarted } from "../../core/journal/events.ts";
import { parseEntry } from "../../core/journal/journal.ts";
import type { Probe } from "../../core/ports.ts";
import type { Append, AppendResult, Store } from "../../core/store/contract.ts";
import { withParts } from "../with-parts.ts";
import type { AckedWrite } from "../witness/log.ts";
import { ACK_FILE, type SceneConfig, STRUCK_FILE, type Struck } from "./config.ts";
import { describeWrite } from "./labels.ts";
import { CALL_POINTS, type Place, placeId, type Side, type Strike } from "./places.ts";

/** Wall time with fractions, comparable between processes on one machine. */
export const wallTime = (): number => performance.timeOrigin + performance.now();

interface Write {
  readonly n: number;
  readonly label: string;
  readonly steps: readonly string[];
}

type Intent = StepStarted & { readonly epoch: number };

/**
 * One process under test, observed at its boundaries: every boundary is recorded, writes are noted when they are
 * acknowledged, and the fault is injected at its place.
 */
export class Scene {
  readonly places: Place[] = [];
  writes = 0;
  /** When the first write after a claim was acknowledged. */
  backAt: number | null = null;
  /** Called instead of a kill, for faults that the process survives. */
  onStrike: (() => void) | null = null;
  readonly #config: SceneConfig;
  readonly #acks: number;
  readonly #claimed = new Set<string>();
  readonly #intents = new Map<string, Intent>();
  /** Calls that the engine has announced and user code hasn't begun yet, oldest first. */
  readonly #announced: { readonly runId: string; readonly step: string }[] = [];
  readonly #counts = new Map<string, number>();

  constructor(config: SceneConfig) {
    this.#config = config;
    this.#acks = openSync(path.join(config.folder, ACK_FILE), "a");
  }

  readonly probe: Probe = (point, { runId, step }) => {
    if (point === "C05:before-call" && step !== undefined) this.#announced.push({ runId, step });
    const words = CALL_POINTS[point];
    if (words === undefined || step === undefined) return;
    this.#pass({ point, nth: this.#next(point) }, `${words} ${step}`, [step]);
  };

  /** Called when a step's function is called; returns the number of the call. */
  call(step: string, side: Side, call = this.#next("call")): number {
    this.#pass({ call, side }, `${side} call ${call}: ${step}`, [step]);
    return call;
  }

  effected(kind: string, id: string, step: string): void {
    const where = step === "" ? "outside all steps" : `in ${step}`;
    this.#pass(
      { effect: this.#next("effect") },
      `after effect ${kind} ${id} ${where}`,
      step === "" ? [] : [step],
    );
  }

  /** The engine's key for the call that begins now at this place of a group. */
  announced(runId: string, matches: (step: string) => boolean): string | undefined {
    const index = this.#announced.findIndex((one) => one.runId === runId && matches(one.step));
    return index < 0 ? undefined : this.#announced.splice(index, 1)[0]?.step;
  }

  intent(runId: string, step: string): Intent | undefined {
    return this.#intents.get(`${runId} ${step}`);
  }

  wrap(store: Store): Store {
    const transaction: Store["transaction"] = async (work, build) => {
      const write = this.#begin([]);
      let built: Append | undefined;
      const done = await inner(work, (value) => (built = build(value)));
      this.#end(write, built ? [built] : [], [done.result]);
      return done;
    };
    const inner = store.transaction?.bind(store) as NonNullable<Store["transaction"]>;
    return withParts(store, {
      append: async (batch) => {
        const write = this.#begin(batch);
        const results = await store.append(batch);
        this.#end(write, batch, results);
        return results;
      },
      ...(store.transaction ? { transaction } : {}),
    });
  }

  #begin(batch: readonly Append[]): Write {
    const n = ++this.writes;
    const { label, steps } = describeWrite(batch.flatMap(eventsOf));
    this.#pass({ write: n, side: "before" }, `before write ${n}: ${label}`, steps);
    return { n, label, steps };
  }

  #end({ n, label, steps }: Write, batch: readonly Append[], results: readonly AppendResult[]): void {
    const lines: string[] = [];
    batch.forEach((append, index) => {
      if (results[index]?.ok !== true) return;
      const runId = append.run.id;
      for (const event of eventsOf(append))
        if (event.kind === "step_started")
          this.#intents.set(`${runId} ${event.step}`, { ...event.meta, epoch: event.epoch });
      for (const { seq, head } of append.entries)
        lines.push(`${JSON.stringify({ runId, seq, head } satisfies AckedWrite)}\n`);
      this.#claim(append);
    });
    if (lines.length > 0) writeSync(this.#acks, lines.join(""));
    this.#pass({ write: n, side: "after" }, `after write ${n}: ${label}`, steps);
  }

  #claim({ run, claim }: Append): void {
    if (claim.kind === "acquire") this.#claimed.add(run.id);
    else if (claim.kind !== "keep" && this.#claimed.has(run.id)) this.backAt ??= wallTime();
  }

  #next(what: string): number {
    const next = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, next);
    return next;
  }

  #pass(strike: Strike, label: string, steps: readonly string[]): void {
    const id = placeId(strike);
    this.places.push({ id, label, steps, strike });
    const { strike: wanted } = this.#config;
    if (wanted && placeId(wanted) === id) this.strike(label);
  }

  /** The place may differ from the uninterrupted run, because the order of events varies. */
  strike(label: string): void {
    const struck: Struck = { at: wallTime(), label };
    writeFileSync(path.join(this.#config.folder, STRUCK_FILE), JSON.stringify(struck));
    if (this.onStrike) this.onStrike();
    // A signal to the own process takes effect before the call returns: nothing after it runs.
    else process.kill(process.pid, "SIGKILL");
  }
}

const eventsOf = ({ run, entries }: Append): readonly JournalEvent[] =>
  entries.flatMap((entry) => parseEntry(run.id, entry).events);
