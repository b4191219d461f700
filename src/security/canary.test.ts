import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { keyOf, testKeyring } from "../../test/support/sealed.ts";
import { digest } from "../core/hash.ts";
import { dataDigest } from "../core/values/codec.ts";
import { createEngine, type EngineOptions, type Logger, workflow } from "../index.ts";
import { openSqliteStore } from "../stores/sqlite/index.ts";
import { sealStore } from "./sealed-store.ts";

const CANARY = "canary-4711-tweet";
const LONG = `${CANARY} `.repeat(900);

/**
 * Anyone who guesses a value can compute these digests, so they must not appear: of a step's arguments, and of a text
 * stored on its own.
 */
const DIGESTS = [dataDigest(CANARY), digest(LONG)];

const child = workflow("child", async (ctx, text: string) => ctx.step("echo", () => `${text} again`));

/** Puts the canary everywhere a value can go. */
const everywhere = workflow("everywhere", async (ctx, input: { text: string }) => {
  const made = await ctx.step("make", () => ({ [CANARY]: input.text, long: LONG }), {
    input: CANARY,
    effect: "keyed",
  });
  await ctx
    .step(
      "fail",
      () => Promise.reject(Object.assign(new Error(CANARY, { cause: new Error(LONG) }), { code: CANARY })),
      {
        retry: false,
      },
    )
    .catch(() => undefined);
  ctx.memory.set("canary", { text: CANARY, long: LONG });
  await ctx.loop("turns", { notes: [] as string[] }, (draft, turn) => {
    draft.notes.push(`${CANARY} ${turn.index}`, LONG);
    return turn.index === 3 ? turn.done() : undefined;
  });
  ctx.decide({ description: CANARY, rationale: LONG, alternatives: [CANARY] });
  ctx.agent("poet", { status: CANARY, state: { made } });
  const values = { text: CANARY, long: LONG };
  const [interim_results, agent_config, error_details] = [values, values, values];
  const analysis_id = ctx.uuid("analysis");
  const row = { stock_ticker: "AAPL", agent_type: "poet", analysis_id, working_memory: [values] };
  const more = { interim_results, agent_config, error_details, failure_reason: LONG };
  await ctx.checkpoint("agent", { record: { table: "agent_checkpoints", row: { ...row, ...more } } });
  const layer = { layer_index: 1, state: values, dag_structure: [CANARY], execution_config: values };
  const layers = { id: analysis_id, workflow_id: "w", ...layer };
  await ctx.checkpoint("layer", { record: { table: "workflow_checkpoints", row: layers } });
  await ctx.child("child", child, CANARY);
  await ctx.gate("sure", { show: { CANARY, LONG }, choices: ["yes"], text: true });
  await ctx.signal("more");
  throw new Error(`${CANARY} at the end`);
});

const newFolder = useFolders("canary");

async function play(options: Partial<EngineOptions>, sealed: boolean) {
  const folder = newFolder();
  const lines: string[] = [];
  const log = (message: string, fields?: unknown) => void lines.push(JSON.stringify([message, fields]));
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const inner = await openSqliteStore({ file: path.join(folder, "runs.db") });
  const store = sealed ? await sealStore(inner, { keyring: testKeyring("k1") }) : inner;
  const engine = createEngine({ store, workflows: [everywhere, child], logger, quietMs: 5, ...options });
  const events: string[] = [];
  for (const type of ["run_failed", "step_failed", "gate_waiting", "signal_received"] as const)
    engine.on(type, (event) => void events.push(JSON.stringify(event)));
  const asked = new Promise((resolve) => engine.on("gate_waiting", resolve));
  await engine.start(everywhere, { text: CANARY }, { id: "run-1", config: { tone: CANARY } });
  await asked;
  await engine.answer("run-1", "sure", { choice: "yes", text: CANARY, actor: "Ada" });
  await engine.signal("run-1", "more", { text: CANARY, LONG });
  const error: unknown = await engine.result("run-1").catch((thrown: unknown) => thrown);
  const run = await engine.settled("run-1");
  const report = await engine.status("run-1");
  // Reads the files while the store is open, so that the WAL counts too.
  const files = readdirSync(folder).map((name) => readFileSync(path.join(folder, name)));
  await engine.close();
  await store.close();
  files.push(...readdirSync(folder).map((name) => readFileSync(path.join(folder, name))));
  return { run, report, error: error as Error, lines, events, bytes: Buffer.concat(files) };
}

/** The encodings in which a secret could leak. */
const forms = (text: string): Buffer[] =>
  [Buffer.from(text), Buffer.from(text, "utf16le"), ...[0, 1, 2].map((n) => base64At(text, n))].filter(
    ({ length }) => length > 8,
  );

/** The part of its base64 that doesn't depend on the position within a text. */
function base64At(text: string, offset: number): Buffer {
  const whole = Buffer.from("x".repeat(offset) + text).toString("base64");
  return Buffer.from(whole.slice(offset === 0 ? 0 : 4, -4));
}

describe("a secret in every place that a value can have", () => {
  it("is found without protection, so this test would see it", async () => {
    const { bytes, run, error } = await play({}, false);
    expect(run.status).toBe("failed");
    for (const text of [CANARY, ...DIGESTS]) expect(bytes.includes(text), text).toBe(true);
    expect(error.message).toContain(CANARY);
  });

  it("is nowhere in the files, the log and the events of a sealed store, and no key is either (S1-47, S4-05)", async () => {
    const { bytes, lines, events, run, report, error } = await play({}, true);
    expect(run.status).toBe("failed");
    for (const form of forms(CANARY)) expect(bytes.includes(form), form.toString()).toBe(false);
    for (const text of DIGESTS) expect(bytes.includes(text), text).toBe(false);
    const heard = [...events, JSON.stringify(run), JSON.stringify(report)].join("\n");
    expect(heard).not.toContain(CANARY);
    expect(error.message).toContain(CANARY);
    const key = Buffer.from(keyOf("k1"));
    for (const form of [
      key,
      ...["hex", "base64", "base64url"].map((as) => Buffer.from(key.toString(as as "hex"))),
    ])
      expect(bytes.includes(form) || lines.join("\n").includes(form.toString("latin1"))).toBe(false);
  });

  it("is nowhere in the files, the log, the events and the errors where it is redacted", async () => {
    const { bytes, lines, events, run, report, error } = await play({ redact: { values: [CANARY] } }, false);
    expect(run.status).toBe("failed");
    for (const form of forms(CANARY)) expect(bytes.includes(form), form.toString()).toBe(false);
    const all = [...lines, ...events, JSON.stringify([run, report]), error.message, String(error.cause)].join(
      "\n",
    );
    expect(all).not.toContain(CANARY);
    expect(error.message).toContain("[redacted:value]");
  });
});
