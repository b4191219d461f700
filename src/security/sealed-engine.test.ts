import { describe, expect, it } from "vitest";
import { createLab, type Lab, signalled } from "../../test/support/lab.ts";
import { recordsOf, testKeyring } from "../../test/support/sealed.ts";
import type { Store } from "../core/store/contract.ts";
import { HoldfastError, workflow } from "../index.ts";
import type { Keyring } from "./keyring.ts";
import { sealStore } from "./sealed-store.ts";

const LONG = "a long text that is stored by itself. ".repeat(300);

async function sealedLab(keyring: Keyring = testKeyring("k1"), below = (inner: Store): Store => inner) {
  const base = createLab();
  const inner = base.store;
  const store = await sealStore(below(inner), { keyring });
  const engine: Lab["engine"] = (workflows, options) => base.engine(workflows, { store, ...options });
  return { inner, lab: { ...base, engine }, store };
}

/** A keyring whose keys can be made unavailable. */
function shakyKeyring(): Keyring & { away: boolean } {
  const keyring = testKeyring("k1");
  const shaky = {
    away: false,
    current: keyring.current,
    ids: () => keyring.ids(),
    wrap: async (...args: Parameters<Keyring["wrap"]>) => shaky.answer(() => keyring.wrap(...args)),
    unwrap: async (...args: Parameters<Keyring["unwrap"]>) => shaky.answer(() => keyring.unwrap(...args)),
    answer: <T>(ask: () => T): T => {
      if (shaky.away) throw new Error("no answer");
      return ask();
    },
  };
  return shaky;
}

const everything = workflow("everything", async (ctx, input: { name: string; text: string }) => {
  const made = await ctx.step("make", () => ({ text: input.text, by: input.name }), { input });
  ctx.memory.set("made", made.text.length);
  const state = await ctx.loop("turns", { notes: [] as string[] }, async (draft, turn) => {
    draft.notes.push(await ctx.step("note", () => `${turn.index} ${LONG}`));
    return turn.index === 2 ? turn.done() : undefined;
  });
  const answer = await ctx.gate("sure", { show: made, choices: ["yes", "no"], text: true });
  const { payload } = await ctx.signal<{ more: string }>("more");
  ctx.decide({ description: "to end", rationale: payload.more });
  return { notes: state.notes.length, answer: answer.text, more: payload.more, made: ctx.memory.get("made") };
});

const talk = workflow("talk", async (ctx, text: string) => {
  const state = await ctx.loop("turns", { notes: [] as string[] }, async (draft, turn) => {
    draft.notes.push(await ctx.step("note", () => `~${turn.index} ${text}`));
    return turn.index === 2 ? turn.done() : undefined;
  });
  return { notes: state.notes, text };
});

describe("an engine on a sealed store", () => {
  it("does everything it does elsewhere, across a crash", async () => {
    const { lab, inner } = await sealedLab();
    const engine = lab.engine([everything]);
    const input = { name: "Ada", text: LONG };
    await lab.drive(engine.start(everything, input, { id: "run-1", config: { tone: "kind" } }));
    await lab.drive(engine.settled("run-1"));
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([everything]);
    await lab.drive(next.recover());
    const [gate] = await next.gates("run-1");
    const answer = { choice: "yes", text: "I am", digest: gate?.digest ?? "" };
    await lab.drive(next.answer("run-1", "sure", answer));
    await lab.drive(next.signal("run-1", "more", { more: LONG }));
    const result = await lab.drive(next.result("run-1"));
    expect(result).toEqual({ notes: 3, answer: "I am", more: LONG, made: LONG.length });
    const { checkpoints } = next;
    expect(await checkpoints.validate("run-1")).toMatchObject({ ok: true });
    const first = (await checkpoints.list("run-1")).at(-1);
    const fork = await lab.drive(next.fork(`run-1@${first?.seq}`, { id: "run-2" }));
    expect(fork.origin?.runId).toBe("run-1");
    await lab.drive(next.settled("run-2"));
    await lab.drive(next.close());
    const text = JSON.stringify(await inner.entries("run-1", { from: 1, limit: 500 }));
    expect(text).not.toContain("long text");
  });

  it("gives runs to stores that are not sealed, and takes them from there", async () => {
    const { lab } = await sealedLab();
    const plain = createLab();
    const [from, over] = [lab.engine([talk]), plain.engine([talk])];
    const drive = <T>(work: Promise<T>): Promise<T> => lab.drive(plain.drive(work));
    await drive(from.start(talk, LONG, { id: "run-1" }));
    const result = await drive(from.result("run-1"));
    await drive(over.transfer.importRuns(from.transfer.exportRun("run-1")));
    expect(await drive(over.result("run-1"))).toEqual(result);
    expect(await over.checkpoints.validate("run-1")).toMatchObject({ ok: true });
    const { lab: third, inner } = await sealedLab();
    const last = third.engine([talk]);
    await third.drive(last.transfer.importRuns(over.transfer.exportRun("run-1")));
    expect(await third.drive(last.result("run-1"))).toEqual(result);
    expect(JSON.stringify(await recordsOf(inner, "run-1"))).not.toContain("long text");
    for (const engine of [from, over]) await drive(engine.close());
    await third.drive(last.close());
  });

  it("shows the kind of an error in lists and the error itself where it is asked for", async () => {
    const { lab } = await sealedLab();
    const failing = workflow("failing", async (ctx) =>
      ctx.step("fail", () => Promise.reject(new TypeError("about the patient")), { retry: false }),
    );
    const engine = lab.engine([failing]);
    await lab.drive(engine.start(failing, undefined, { id: "run-1" }));
    const run = await lab.drive(engine.settled("run-1"));
    expect([run.status, run.error]).toEqual(["failed", "TypeError"]);
    await expect(lab.drive(engine.result("run-1"))).rejects.toMatchObject({
      code: "HF-2101",
      message: expect.stringContaining("about the patient"),
    });
    expect((await engine.status("run-1")).headline).toBe("failed: TypeError");
    await lab.drive(engine.close());
  });

  it("leaves a run with a damaged record to a person, who can go on from the checkpoint before it", async () => {
    const broken = { seq: 0 };
    const { lab, inner } = await sealedLab(testKeyring("k1"), (below) => ({
      ...below,
      entries: async (id, range) =>
        (await below.entries(id, range)).map((entry) =>
          entry.seq === broken.seq && entry.data !== null
            ? { ...entry, data: `${entry.data.slice(0, 200)}x${entry.data.slice(201)}` }
            : entry,
        ),
    }));
    const steps = workflow("steps", async (ctx) => {
      for (let n = 0; n < 5; n++) await ctx.step("one", () => n);
      await ctx.sleep("rest", 60_000);
      return "done";
    });
    const engine = lab.engine([steps]);
    await lab.drive(engine.start(steps, undefined, { id: "run-1" }));
    await lab.drive(engine.settled("run-1"));
    const [, , , damaged] = await recordsOf(inner, "run-1");
    broken.seq = damaged?.seq ?? 0;
    await lab.crash(engine);
    const next = lab.engine([steps]);
    await lab.clock.advance(90_000);
    await lab.drive(next.recover());
    const run = await lab.drive(next.settled("run-1"));
    expect(run.waiting[0]).toMatchObject({ kind: "review", detail: expect.stringContaining("HF-3010") });
    const good = Number(/The last good checkpoint is run-1@(\d+)/.exec(run.waiting[0]?.detail ?? "")?.[1]);
    const [newest] = await next.checkpoints.list("run-1", { before: good + 1 });
    await lab.drive(next.fork(`run-1@${newest?.seq}`, { id: "run-2" }));
    expect(await lab.drive(next.result("run-2"))).toBe("done");
    await lab.drive(next.close());
  });
});

describe("a key that cannot be had", () => {
  const waits = workflow("waits", async (ctx, name: string) => {
    await ctx.step("begin", () => name);
    await ctx.sleep("rest", 60_000);
    return ctx.step("end", () => `${name} is done`);
  });

  it("lets the run wait, visibly, and it goes on by itself when the key is back", async () => {
    const keyring = shakyKeyring();
    const { lab, inner } = await sealedLab(keyring);
    const first = lab.engine([waits]);
    await lab.drive(first.start(waits, "Ada", { id: "run-1" }));
    await lab.drive(first.settled("run-1"));
    await lab.crash(first);
    // Acts as another process, with nothing in memory.
    const engine = lab.engine([waits], { store: await sealStore(inner, { keyring }) });
    keyring.away = true;
    await lab.clock.advance(70_000);
    await lab.drive(engine.recover());
    const run = await lab.drive(engine.settled("run-1"));
    expect(run.waiting).toMatchObject([{ kind: "key", detail: expect.stringContaining("HF-3030") }]);
    const { headline, can } = await engine.status("run-1");
    expect(headline).toContain("waiting for its key: The key service did not answer: no answer");
    expect(can).toContain("resume");
    await lab.clock.advance(600_000);
    const later = await lab.drive(engine.settled("run-1"));
    expect([later.recoveries, later.waiting[0]?.since]).toEqual([0, run.waiting[0]?.since]);
    // Retries come at growing intervals.
    expect(later.seq - run.seq).toBeLessThan(20);
    keyring.away = false;
    expect(await lab.drive(engine.result("run-1"))).toBe("Ada is done");
    await lab.drive(engine.close());
  });

  it("holds up no other run, and starts none", async () => {
    const keyring = shakyKeyring();
    const { lab, store } = await sealedLab(keyring);
    const gate = signalled();
    const works = workflow("works", async (ctx) => {
      await ctx.step("before", () => 1);
      await ctx.step("during", () => gate.promise);
      return ctx.step("after", () => 2);
    });
    const engine = lab.engine([works, waits]);
    await lab.drive(engine.start(works, undefined, { id: "run-1" }));
    await lab.clock.advance(100);
    keyring.away = true;
    await expect(lab.drive(engine.start(waits, "Ada", { id: "run-2" }))).rejects.toMatchObject({
      code: "HF-3030",
    });
    expect(await store.read("run-2")).toBeNull();
    gate.resolve();
    expect(await lab.drive(engine.result("run-1"))).toBe(2);
    expect(engine.health().store.state).toBe("ok");
    await lab.drive(engine.close());
  });

  it("may be wrong or retired: the run waits for the right one", async () => {
    const keyring = testKeyring("k1");
    const { lab, inner } = await sealedLab(keyring);
    const first = lab.engine([waits]);
    await lab.drive(first.start(waits, "Ada", { id: "run-1" }));
    await lab.drive(first.settled("run-1"));
    const other = testKeyring("k2", "k1");
    const store = await sealStore(inner, { keyring: other });
    await lab.crash(first);
    other.names.splice(1, 1);
    const engine = lab.engine([waits], { store });
    await lab.clock.advance(70_000);
    await lab.drive(engine.recover());
    const run = await lab.drive(engine.settled("run-1"));
    expect(run.waiting).toMatchObject([{ kind: "key", detail: expect.stringContaining("HF-3031") }]);
    other.names.push("k1");
    await lab.drive(engine.resume("run-1"));
    expect(await lab.drive(engine.result("run-1"))).toBe("Ada is done");
    await lab.drive(engine.close());
  });

  it("does not keep people from pausing and cancelling the run", async () => {
    const keyring = shakyKeyring();
    const { lab, inner } = await sealedLab(keyring);
    const first = lab.engine([waits]);
    await lab.drive(first.start(waits, "Ada", { id: "run-1" }));
    await lab.drive(first.settled("run-1"));
    await lab.crash(first);
    const engine = lab.engine([waits], { store: await sealStore(inner, { keyring }), execute: false });
    keyring.away = true;
    expect((await lab.drive(engine.pause("run-1", { reason: "outage" }))).status).toBe("paused");
    const signalling = lab.drive(engine.signal("run-1", "more", { secret: 1 }));
    await expect(signalling).rejects.toSatisfy((error) => HoldfastError.is(error, "HF-3030"));
    expect((await lab.drive(engine.cancel("run-1"))).status).toBe("cancelled");
    await lab.drive(engine.close());
  });
});
