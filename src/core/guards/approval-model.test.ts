import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampled } from "../../../test/support/exhaustive.ts";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import { type Engine, type HoldfastError, type Policy, workflow } from "../../index.ts";
import type { JournalEvent } from "../journal/events.ts";
import { parseEntry } from "../journal/journal.ts";
import { decode } from "../values/codec.ts";

/** How many histories. */
const HISTORIES = sampled(60, 5_000);
const HOUR = 3_600_000;

/** What can happen between one payment and the next. */
const DEEDS = [
  "approve",
  "approve twice",
  "approve with an old digest",
  "approve the fork's in the source",
  "deny",
  "other arguments",
  "other policy",
  "crash",
  "answer between two processes",
  "expire",
  "pause and resume",
  "fork",
  "edit",
] as const;
type Deed = (typeof DEEDS)[number];

interface Call {
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
  readonly amount: number;
}

/** Payments that a person must agree to, and everything that may come between. */
class World {
  readonly lab: Lab = createLab();
  readonly calls: Call[] = [];
  readonly digests: string[] = [];
  readonly runs = ["r"];
  amount = 1;
  version = 1;
  engine: Engine;
  readonly #flow = workflow("paying", async (ctx) => {
    const paid: unknown[] = [];
    for (let n = 0; n < 3; n++) {
      const input = { amount: this.amount };
      const work = ({ attempt, step }: { attempt: number; step: string }) => {
        this.calls.push({ run: ctx.runId, step, attempt, amount: input.amount });
        if (this.calls.length % 3 === 0) throw new Error("try again");
        return input.amount;
      };
      const options = { effect: "keyed", input, retry: { attempts: 3, baseMs: 1 } } as const;
      paid.push(await ctx.step("pay", work, options).catch((error: Error) => error.name));
    }
    return paid;
  });

  constructor() {
    this.engine = this.#open();
  }

  #open(): Engine {
    const version = String(this.version);
    const policy: Policy = { version, decide: () => ({ ask: "Pay?", timeoutMs: HOUR }) };
    return this.lab.engine([this.#flow], { policy });
  }

  async begin(): Promise<void> {
    await this.lab.drive(this.engine.start(this.#flow, undefined, { id: "r" }));
    await this.rest();
  }

  /** The runs stand at their next question. */
  async rest(): Promise<void> {
    for (const run of this.runs) await this.lab.drive(this.engine.settled(run));
  }

  async open(run: string): Promise<{ gate: string; digest: string } | undefined> {
    const [gate] = await this.lab.drive(this.engine.gates(run));
    if (gate && !this.digests.includes(gate.digest)) this.digests.push(gate.digest);
    return gate;
  }

  async answer(engine: Engine, run: string, choice: string, digest?: string): Promise<string> {
    const gate = await this.open(run);
    if (!gate) return "none";
    const sent = engine.answer(run, gate.gate, { choice, actor: "ada", ...(digest ? { digest } : {}) });
    return this.lab.drive(
      sent.then(
        () => "taken",
        (error: HoldfastError) => error.code,
      ),
    );
  }

  async crash(between: () => Promise<unknown> = async () => undefined): Promise<void> {
    await this.lab.crash(this.engine);
    await between();
    await this.lab.clock.advance(20_000);
    this.engine = this.#open();
    await this.lab.drive(this.engine.recover());
  }

  async do(deed: Deed): Promise<void> {
    const run = this.runs[this.calls.length % this.runs.length] ?? "r";
    switch (deed) {
      case "approve":
        await this.answer(this.engine, run, "approve");
        break;
      case "approve twice": {
        const gate = await this.open(run);
        if (!gate) break;
        const send = () => this.engine.answer(run, gate.gate, { choice: "approve", actor: "ada" });
        const both = await this.lab.drive(Promise.allSettled([send(), send()]));
        expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        break;
      }
      case "approve with an old digest": {
        const current = (await this.open(run))?.digest;
        const old = this.digests.find((one) => one !== current);
        if (current && old) expect(await this.answer(this.engine, run, "approve", old)).toBe("HF-1016");
        break;
      }
      case "approve the fork's in the source": {
        const [source = "r", fork] = this.runs;
        const theirs = fork && (await this.open(fork))?.digest;
        if (theirs)
          expect(["HF-1016", "none"]).toContain(await this.answer(this.engine, source, "approve", theirs));
        break;
      }
      case "deny":
        await this.answer(this.engine, run, "deny");
        break;
      case "other arguments":
        this.amount++;
        break;
      case "other policy":
        this.version++;
        await this.crash();
        break;
      case "crash":
        await this.crash();
        break;
      case "answer between two processes":
        await this.crash(() => this.answer(this.lab.engine([], { execute: false }), run, "approve"));
        break;
      case "expire":
        await this.crash(async () => {
          await this.answer(this.lab.engine([], { execute: false }), run, "approve");
          await this.lab.clock.advance(HOUR + 1_000);
        });
        break;
      default:
        await this.operate(deed, run);
    }
    await this.rest();
  }

  async operate(deed: "pause and resume" | "fork" | "edit", run: string): Promise<void> {
    const { lab, engine } = this;
    const isOpen = (await engine.get(run))?.status === "waiting";
    if (deed === "fork" && this.runs.length < 3) {
      const id = `f${this.runs.length}`;
      await lab.drive(engine.fork(run, { id, effects: "allow" }));
      this.runs.push(id);
    }
    if (deed === "fork" || !isOpen) return;
    await lab.drive(engine.pause(run));
    if (deed === "edit") {
      const forged = { choice: "approve", actor: "ada", at: lab.clock.now(), timedOut: false };
      const set = { steps: { "approve:pay": forged } };
      await expect(lab.drive(engine.resume(run, { set }))).rejects.toMatchObject({ code: "HF-1037" });
    }
    await lab.drive(engine.resume(run));
  }
}

interface Question {
  readonly digest: string;
  readonly until: number;
  readonly about: { run: string; step: string; input: { amount: number }; policy: string };
  approvedAt?: number;
}

/** Every intent of a run must have used up an approval of its own, given in time for exactly this call. */
function unapproved(run: string, events: readonly JournalEvent[], calls: readonly Call[]): string[] {
  const problems: string[] = [];
  const questions = new Map<string, Question>();
  // What was copied from a source is the source's.
  const from = events.findLast(({ kind }) => kind === "run_forked")?.seq ?? 0;
  for (const event of events.slice(events.findIndex(({ seq }) => seq > from))) {
    if (event.kind === "gate_answered") {
      const question = questions.get(event.step);
      if (question && event.meta.digest === question.digest && event.meta.choice === "approve")
        question.approvedAt = event.at;
      if (event.actor !== "ada") problems.push(`${event.step} was answered by nobody.`);
    }
    if (event.kind !== "step_started") continue;
    const { type, args = "", until = 0, attempt, policy } = event.meta;
    if (type === "gate") {
      const shown = decode(event.data as string) as { show: Question["about"] };
      questions.set(event.step, { digest: args, until, about: shown.show });
    } else {
      const gate = `approve:${event.step}${attempt > 1 ? `##${attempt}` : ""}`;
      const question = questions.get(gate);
      questions.delete(gate);
      const isRefusal = events.some((one) => one.kind === "step_failed" && one.seq === event.seq + 1);
      if (isRefusal && question?.approvedAt === undefined) continue;
      if (question?.approvedAt === undefined) problems.push(`${event.step} ${attempt} was not approved.`);
      else if (question.approvedAt >= question.until || event.at >= question.until)
        problems.push(`${event.step} ${attempt} was approved too late.`);
      else if (
        question.about.run !== run ||
        question.about.step !== event.step ||
        question.about.policy !== policy
      )
        problems.push(`${event.step} ${attempt} was approved for something else.`);
      const made = calls.filter(
        (one) => one.run === run && one.step === event.step && one.attempt === attempt,
      );
      if (made.length > 1) problems.push(`${event.step} ${attempt} was called twice.`);
      if (made.some(({ amount }) => amount !== question?.about.input.amount))
        problems.push(`${event.step} ${attempt} was called with other arguments.`);
    }
  }
  return problems;
}

describe("whatever happens around approvals", () => {
  it("no call is made without one of its own, for its very arguments, policy and run, given in time", async () => {
    let [calls, deeds] = [0, 0];
    const histories = fc.array(fc.constantFrom(...DEEDS), { minLength: 3, maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const world = new World();
        await world.begin();
        for (const deed of history) await world.do(deed);
        for (const run of world.runs) {
          const entries = await world.lab.store.entries(run, { from: 1, limit: 10_000 });
          const events = entries.flatMap((entry) => [...parseEntry(run, entry).events]);
          expect(unapproved(run, events, world.calls)).toEqual([]);
        }
        calls += world.calls.length;
        deeds += history.length;
        await world.lab.drive(world.engine.close());
      }),
      { numRuns: HISTORIES, seed: 7 },
    );
    expect(calls).toBeGreaterThan(HISTORIES);
    expect(deeds).toBeGreaterThan(calls);
  });
});
