import { expect, vi } from "vitest";
import type { Engine } from "../../../src/index.ts";
import * as flows from "./workflows.ts";

const { callsOf } = flows;

/** One behaviour that every engine has: a sentence, and how to see it. */
type Behaviours = Readonly<Record<string, (engine: Engine, id: string) => Promise<void>>>;

const steps: Behaviours = {
  "a step runs once, and what it returned comes back as it was": async (engine, id) => {
    const run = await engine.start(flows.sums, 1, { id });
    const want = { first: 2, outer: 5, again: 6, at: new Date(0), big: 12n };
    expect(await run.result()).toEqual(want);
    expect(await run.result()).toEqual(want);
    expect(callsOf(id)).toEqual(["first", "outer", "inner", "first#2"]);
    expect(await run.row()).toMatchObject({ status: "completed", stepsDone: 4 });
  },
  "a step that throws is tried again under the same key": async (engine, id) => {
    const run = await engine.start(flows.flaky, 2, { id });
    expect(await run.result()).toBe(3);
    const keys = callsOf(id).map((call) => call.split(" ")[0]);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  },
  "a run fails with its step, and a resume calls only that again": async (engine, id) => {
    const run = await engine.start(flows.breaks, undefined, { id });
    await expect(run.result()).rejects.toMatchObject({ code: "HF-2101" });
    expect(await run.row()).toMatchObject({ status: "failed" });
    flows.mended.add(id);
    await run.resume();
    expect(await run.result()).toBe(2);
    expect(callsOf(id)).toEqual(["before", "call", "call"]);
  },
  "the same id with the same input is the same run, and with another it is refused": async (engine, id) => {
    const run = await engine.start(flows.sums, 1, { id });
    expect((await engine.start(flows.sums, 1, { id })).id).toBe(run.id);
    await run.result();
    await expect(engine.start(flows.sums, 2, { id })).rejects.toMatchObject({ code: "HF-1041" });
    expect(callsOf(id)).toHaveLength(4);
  },
  "a run that nobody has started is not there": async (engine, id) => {
    expect(await engine.get(id)).toBeNull();
    await expect(engine.pause(id)).rejects.toMatchObject({ code: "HF-1001" });
    await expect(engine.result(id)).rejects.toMatchObject({ code: "HF-1001" });
  },
};

const flow: Behaviours = {
  "a group runs its branches, and a settled one keeps its failures": async (engine, id) => {
    const run = await engine.start(flows.groups, [1, 2, 3], { id });
    expect(await run.result()).toEqual({
      each: [10, 20, 30],
      left: "l",
      right: "r",
      ok: [true, false, true],
    });
  },
  "a loop carries its state from turn to turn": async (engine, id) => {
    const run = await engine.start(flows.turns, { turns: 5 }, { id });
    expect(await run.result()).toEqual({ said: ["turn 0", "turn 1", "turn 2"], sum: 10, last: 3 });
    expect(await run.row()).toMatchObject({ turns: 5 });
  },
  "a sleep ends by itself": async (engine, id) => {
    const run = await engine.start(flows.naps, 200, { id });
    expect(await run.result()).toBe(true);
    expect(callsOf(id)).toEqual(["wake"]);
  },
  "children are runs of their own, and their results come back": async (engine, id) => {
    const run = await engine.start(flows.family, 10, { id });
    expect(await run.result()).toBe(15);
    expect(await engine.get(id)).toMatchObject({ status: "completed", openChildren: 0 });
  },
  "memory, time and random numbers are the same after a wait": async (engine, id) => {
    const run = await engine.start(flows.remembers, undefined, { id });
    await run.settled();
    await run.answer("wait", { choice: "on" });
    const result = await run.result();
    expect(result).toMatchObject({ same: true, keys: ["seen"] });
    const [newest] = await engine.checkpoints.list(id, { limit: 1 });
    const { memory, decisions } = await engine.checkpoints.show(newest?.id as string);
    expect(memory).toEqual({ seen: { id: result.id, again: true } });
    expect(decisions.map(({ description }) => description)).toEqual(["go on"]);
    expect(await engine.checkpoints.find(`${id}@marked`)).toMatch(/@\d+$/);
  },
};

const people: Behaviours = {
  "a gate waits for its first answer and takes no second": async (engine, id) => {
    const run = await engine.start(flows.approval, 40, { id });
    expect(await run.settled()).toMatchObject({ status: "waiting", waiting: [{ kind: "gate" }] });
    const [gate] = await run.gates();
    expect(gate).toMatchObject({ choices: ["yes", "no"], show: { total: 40 } });
    await expect(run.answer("approve", { choice: "maybe" })).rejects.toMatchObject({ code: "HF-1015" });
    await run.answer("approve", { choice: "yes", actor: "Ada" });
    expect(await run.result()).toBe("paid 40 for Ada");
    await expect(run.answer("approve", { choice: "no" })).rejects.toMatchObject({ code: "HF-1014" });
    expect(callsOf(id)).toEqual(["pay"]);
  },
  "a gate that nobody answers takes its choice after its time": async (engine, id) => {
    const run = await engine.start(flows.silence, undefined, { id });
    expect(await run.result()).toEqual({ choice: "no", timedOut: true });
  },
  "signals wait in the mailbox, and so does injected context": async (engine, id) => {
    const run = await engine.start(flows.mailbox, undefined, { id });
    await run.settled();
    await engine.inject(id, "hurry");
    await run.signal("number", 7);
    await run.signal("stop");
    expect(await run.result()).toEqual({ first: 7, second: "stop", injected: ["hurry"] });
  },
  "a paused run starts nothing until it is resumed": async (engine, id) => {
    const run = await engine.start(flows.approval, 5, { id });
    await run.settled();
    await run.pause({ actor: "Ada", reason: "lunch" });
    await run.answer("approve", { choice: "yes" });
    expect(await run.settled()).toMatchObject({ status: "paused" });
    expect(callsOf(id)).toEqual([]);
    await run.resume();
    expect(await run.result()).toMatch(/^paid 5/);
  },
  "a cancelled run undoes its work in reverse order": async (engine, id) => {
    const run = await engine.start(flows.trip, undefined, { id });
    await run.settled();
    await run.cancel({ compensate: true });
    await expect(run.result()).rejects.toMatchObject({ code: "HF-2110" });
    expect(callsOf(id)).toEqual(["flight", "hotel", "undo hotel", "undo flight"]);
    await expect(run.resume()).rejects.toMatchObject({ code: "HF-1007" });
  },
};

const unknown: Behaviours = {
  "a `once` call that broke off is in doubt until a person decides": async (engine, id) => {
    const run = await engine.start(flows.orders, undefined, { id });
    expect(await run.settled()).toMatchObject({ status: "waiting", waiting: [{ kind: "decision" }] });
    expect(callsOf(id)).toEqual(["order"]);
    await run.resolve("order", { action: "done", value: "it is there" });
    expect(await run.result()).toBe("it is there");
    expect(callsOf(id)).toEqual(["order"]);
  },
  "`verify` answers for a call whose outcome is unknown": async (engine, id) => {
    flows.verdicts.set(id, "done");
    const run = await engine.start(flows.orders, undefined, { id });
    expect(await run.result()).toBe("found");
    expect(callsOf(id)).toEqual(["order"]);
  },
  "a call in doubt is made again only when a person says so": async (engine, id) => {
    const run = await engine.start(flows.orders, undefined, { id });
    await run.settled();
    await run.resolve("order", { action: "rerun" });
    expect(await run.result()).toBe("ordered again");
  },
};

const past: Behaviours = {
  "a fork continues from a checkpoint of another run": async (engine, id) => {
    const run = await engine.start(flows.sums, 1, { id });
    await run.result();
    const list = await engine.checkpoints.list(id);
    const first = list.at(-1)?.id as string;
    const fork = await engine.fork(first, { id: `${id}-fork`, set: { steps: { first: 10 } } });
    expect(await engine.result(fork.id)).toMatchObject({ first: 10, outer: 21, again: 22 });
    expect(callsOf(fork.id)).toEqual(["outer", "inner", "first#2"]);
    expect(await engine.get(fork.id)).toMatchObject({ origin: { runId: id } });
  },
  "a plan says what a resume would do, and does nothing": async (engine, id) => {
    const run = await engine.start(flows.breaks, undefined, { id });
    await expect(run.result()).rejects.toMatchObject({ code: "HF-2101" });
    const plan = await engine.plan(id);
    expect(plan.runs.map(({ step }) => step)).toEqual(["call"]);
    expect(callsOf(id)).toEqual(["before", "call"]);
  },
  "a run shows in the list with its status and labels": async (engine, id) => {
    const run = await engine.start(flows.sums, 1, { id, labels: { suite: id } });
    await run.result();
    // Temporal's list follows a run after a moment, by design: docs/temporal.md.
    await vi.waitFor(
      async () => {
        const { runs } = await engine.list({ labels: { suite: id } });
        expect(runs.map((row) => row.status)).toEqual(["completed"]);
      },
      { timeout: 60_000 },
    );
  },
  "a checkpoint verifies against the journal's chain": async (engine, id) => {
    const run = await engine.start(flows.turns, { turns: 3 }, { id });
    await run.result();
    const [newest, oldest] = await engine.checkpoints
      .list(id)
      .then((list) => [list[0]?.id as string, list.at(-1)?.id as string]);
    expect(await engine.checkpoints.validate(newest as string)).toMatchObject({ ok: true });
    expect(await engine.checkpoints.diff(oldest as string, newest as string)).toBeDefined();
  },
};

/** What an engine promises, whatever keeps its runs. */
export const engineBehaviours: Readonly<Record<string, Behaviours>> = {
  steps,
  "flow control": flow,
  "people and messages": people,
  "unknown outcomes": unknown,
  "the past": past,
};
