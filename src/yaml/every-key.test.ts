import { describe, expect, it } from "vitest";
import {
  type Expected,
  expectedOf,
  loadEveryKey,
  everyKeyFiles as names,
  readData as read,
} from "../../test/support/every-key.ts";
import { createEngine, type Engine } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { workflowFile } from "./schema/workflow.ts";

async function run(name: string, expected: Expected) {
  const loaded = await loadEveryKey(name, expected);
  const { asked, called } = loaded;
  const engine = createEngine({ store: createMemoryStore(), workflows: [loaded.workflow] });
  try {
    await engine.start(loaded.workflow, loaded.parseInputs(expected.inputs ?? {}), { id: "r" });
    for (const { gate, ...answer } of expected.answers ?? []) {
      await engine.settled("r");
      await engine.answer("r", gate, answer);
    }
    return { ...(await outcome(engine)), asked, called };
  } finally {
    await engine.close();
  }
}

async function outcome(engine: Engine) {
  const result = await engine.result("r").catch((error: unknown) => error);
  const { decisions, progress } = await engine.checkpoints.show("r");
  return { result, decisions: decisions.map(({ description }) => description), progress };
}

describe("workflow files with every key of the dialect", () => {
  it.each(names)("%s comes to what stands beside it", async (name) => {
    const expected = expectedOf(name);
    const { result, decisions, called, asked, progress } = await run(name, expected);
    if (expected.result !== undefined) expect(result).toEqual(expected.result);
    if (expected.contains !== undefined) expect(JSON.stringify(result)).toContain(expected.contains);
    if (expected.error !== undefined)
      expect(result instanceof Error ? result.message : result).toContain(expected.error);
    if (expected.decisions) expect(decisions).toEqual(expect.arrayContaining([...expected.decisions]));
    if (expected.called) expect(called.sort()).toEqual([...expected.called].sort());
    if (expected.progress !== undefined) expect(progress.text).toBe(expected.progress);
    const { asked: request } = expected;
    if (request)
      expect(asked.find(({ agent }) => agent === request.agent)).toMatchObject({
        model: request.model,
        messages: [{ text: request.prompt }],
      });
  });

  it("are twenty, and leave no key out", () => {
    expect(names).toHaveLength(20);
    const used = new Set<string>();
    for (const name of names) collect(read(name), used);
    expect([...keysOf(workflowFile)].filter((key) => !used.has(key))).toEqual([]);
  });
});

function collect(value: unknown, into: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    into.add(key);
    collect(inner, into);
  }
}

interface Definition {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly valueType?: unknown;
  readonly in?: unknown;
  readonly options?: readonly unknown[];
  readonly getter?: () => unknown;
}

/** Every key that a schema names, at any depth. */
function keysOf(schema: unknown, seen = new Set<unknown>(), keys = new Set<string>()): Set<string> {
  if (typeof schema !== "object" || schema === null || seen.has(schema)) return keys;
  seen.add(schema);
  const {
    shape = {},
    innerType,
    element,
    valueType,
    in: piped,
    options = [],
    getter,
  } = (schema as { def?: Definition }).def ?? {};
  for (const key of Object.keys(shape)) keys.add(key);
  const inner = [...Object.values(shape), innerType, element, valueType, piped, ...options, getter?.()];
  for (const one of inner) keysOf(one, seen, keys);
  return keys;
}
