import { describe, expect, it } from "vitest";
import { createEngine, type Engine, HoldfastError, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";

const flow = workflow("flow", (ctx) => ctx.gate("approve", { choices: ["yes"] }));

/** What a program may pass by mistake. */
const JUNK: readonly unknown[] = [
  undefined,
  null,
  0,
  -1,
  Number.NaN,
  "",
  "x",
  "a/b",
  "\u0000",
  "x".repeat(5_000),
  true,
  [],
  ["a"],
  {},
  { bogus: 1 },
  { id: 5 },
  () => 1,
  Symbol("s"),
  1n,
  new Date(Number.NaN),
  new Map(),
  Object.create(null),
  new Proxy({}, {}),
];

const OPTIONS = [
  ..."store workflows execute saving checkpoint owner claimMs sweepMs concurrency recovery holdMs quietMs".split(
    " ",
  ),
  ..."storePatienceMs onSaveFailure triggers pressure assumedStepMs policy contentCheck retention redact".split(
    " ",
  ),
  ..."secrets limits clock ids logger probe bogus".split(" "),
];

const VERBS = [
  ..."get status pause resume inject fork previewFork replay plan signal gates answer resolve list on".split(
    " ",
  ),
  ..."register pauseAll resumeAll cancelAll injectAll".split(" "),
];

/** The answer to a call: nothing, or an error that isn't one of ours. */
async function rawError(label: string, call: () => unknown): Promise<string[]> {
  try {
    await call();
    return [];
  } catch (error) {
    return error instanceof HoldfastError ? [] : [`${label}: ${String(error)}`];
  }
}

type Calls = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;

describe("arguments of the wrong kind", () => {
  it("are refused with an error of the table, never with one from inside", async () => {
    const store = createMemoryStore();
    const engine = createEngine({ store, workflows: [flow], execute: false });
    await engine.start(flow, undefined, { id: "r" });
    const verbs = engine as unknown as Calls;
    const problems: string[] = [];
    let calls = 0;
    const attempt = async (label: string, call: () => unknown): Promise<void> => {
      calls++;
      problems.push(...(await rawError(label, call)));
    };
    for (const one of JUNK) {
      const given = one as never;
      await attempt("createEngine", () => createEngine(given));
      for (const name of OPTIONS) {
        const options = { store: createMemoryStore(), execute: false, [name]: one };
        await attempt(`createEngine({ ${name} })`, () => createEngine(options as never));
      }
      await attempt("workflow(name)", () => workflow(given, () => 1));
      await attempt("workflow(options)", () => workflow("x", given, () => 1));
      for (const verb of VERBS) {
        await attempt(`${verb}(…)`, () => verbs[verb]?.(one));
        await attempt(`${verb}("r", …)`, () => verbs[verb]?.("r", one));
        await attempt(`${verb}("r", "g", …)`, () => verbs[verb]?.("r", "g", one));
      }
      await attempt("start(…)", () => engine.start(given, undefined));
      await attempt("start(flow, undefined, …)", () => engine.start(flow, undefined, given));
    }
    expect(problems).toEqual([]);
    expect(calls).toBeGreaterThan(2_000);
  });
});

describe("a misspelled option", () => {
  const engine = createEngine({ store: createMemoryStore(), workflows: [flow], execute: false });
  const misspelled: Readonly<Record<string, (given: never) => unknown>> = {
    createEngine: (given) => createEngine({ store: createMemoryStore(), ...(given as object) }),
    workflow: (given) => workflow("x", given, () => 1),
    start: (given) => engine.start(flow, undefined, given),
    pause: (given) => engine.pause("r", given),
    resume: (given) => engine.resume("r", given),
    cancel: (given) => engine.cancel("r", given),
    fork: (given) => engine.fork("r@1", given),
    plan: (given) => engine.plan("r", given),
    pauseAll: (given) => engine.pauseAll(given),
  };

  it.each(Object.keys(misspelled))("is refused by %s", async (verb) => {
    const call = async (): Promise<unknown> => misspelled[verb]?.({ resaon: "late" } as never);
    await expect(call()).rejects.toMatchObject({ code: "HF-1003" });
  });
});

describe("an act on all runs of a workflow", () => {
  it("is refused without a workflow, because it would be every run", async () => {
    const engine: Engine = createEngine({ store: createMemoryStore(), execute: false });
    await expect(engine.cancelAll({} as never)).rejects.toMatchObject({ code: "HF-1003" });
    await expect(engine.cancelAll({ workflow: "" })).rejects.toMatchObject({ code: "HF-1003" });
  });
});
