import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digest } from "../../src/core/hash.ts";
import { createEngine, type Workflow } from "../../src/index.ts";
import { chooseDriver } from "../../src/stores/sqlite/driver.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import type { CliFolder } from "./cli.ts";

/**
 * Hides what follows, sets the window's title, links elsewhere, returns to the start of the line, reverses the text,
 * never ends.
 */
export const HOSTILE = [
  "\u001b[8mhidden\u001b[0m\u001b[2J\u001b[1;1H",
  "\u001b]0;title\u0007\u001b]8;;http://evil.example\u001b\\link",
  "\r✓ approved\u009b31m\u0090q\u009c\u0085",
  "\u202egnp.exe\u2066\u200f\u061c\u200b\u2028\u2029\u{e0041}",
  "\u007f\b\b\v\f\t",
].join("");

/** Hostile, and longer than any line. */
export const NAME = `${HOSTILE}${"x".repeat(10_000)}`;

/** The same text with several lines. */
export const LONG = `${NAME}\u0000\n${HOSTILE}`;

/** Replaces {@link HOSTILE} in names while a run is created, because the engine refuses such names. */
export const TOKEN = "QQ";

/** A workflow file whose texts are hostile. */
const FLOW = `
const [Q, T] = [${JSON.stringify(TOKEN)}, ${JSON.stringify(LONG)}];
const plain = (name, body) => ({ name, version: "1" + Q, schema: 1, migrations: [], compensateOnFailure: false, body });

export const gated = plain("gated" + Q, async (ctx, input) => {
  ctx.plan(["load" + Q, "approve" + Q, "pay" + Q]);
  await ctx.step("load" + Q, () => {
    ctx.usage({ tokens: 5, costUsd: 0.1, model: "m" + Q });
    return { [T]: T, list: [T] };
  });
  ctx.memory.set("key" + Q, T);
  ctx.decide({ agent: Q, description: T, rationale: T, confidence: 0.5 });
  await ctx.checkpoint("mark" + Q);
  const { choice } = await ctx.gate("approve" + Q, { show: T, choices: ["approve", "no" + Q], text: true });
  await ctx.step("pay" + Q, () => choice, { effect: "keyed", compensate: () => undefined });
  return T;
});

export const failing = plain("failing" + Q, async (ctx) => {
  await ctx.step("good" + Q, () => T, { compensate: () => undefined });
  await ctx.step("bad" + Q, () => {
    const error = new TypeError(T);
    error.name = "Bad" + T;
    error.code = "E" + T;
    throw error;
  }, { retry: false });
});

export const doubtful = plain("doubtful" + Q, async (ctx) => {
  await ctx.step("send" + Q, () => {
    throw new Error(T);
  }, { effect: "once", retry: false });
});

export const done = plain("done" + Q, async (ctx, input) => {
  await ctx.step("work" + Q, () => T);
  return T;
});
`;

/**
 * Fills the folder's store with runs that contain {@link LONG} everywhere a run, a person or a model can write text.
 */
export async function fillHostile(folder: CliFolder): Promise<void> {
  const file = folder.write("flow.mjs", FLOW);
  const flows: Record<string, Workflow<unknown, unknown>> = await import(file);
  const store = await openSqliteStore({ file: join(folder.path, DATABASE) });
  const engine = createEngine({ store, workflows: Object.values(flows), quietMs: 5, owner: `o${TOKEN}` });
  const act = { actor: `ada${TOKEN}`, reason: `because ${TOKEN}` };
  const config = { $holdfast: { file: "flow.mjs", name: TOKEN, labels: { [LONG]: LONG } } };
  const runs = {
    "gated-1": "gated",
    "gated-2": "gated",
    "failed-1": "failing",
    "done-1": "done",
    "doubt-1": "doubtful",
  };
  for (const [id, name] of Object.entries(runs)) {
    await engine.start(flows[name] as Workflow<unknown, unknown>, { [LONG]: LONG }, { id, config });
    await engine.settled(id);
  }
  await engine.inject("gated-1", LONG, act);
  await engine.signal("gated-1", `s${TOKEN}`, LONG, act);
  await engine.pause("gated-2", act);
  await engine.close({ drainMs: 0 });
  await store.close();
}

const DATABASE = ".holdfast/holdfast.db";

/** A copy to change at will. */
export function copyOf(folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), "holdfast-hostile-"));
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** The position of each of a folder's runs. */
export async function positionsIn(folder: string): Promise<string[]> {
  const db = (await chooseDriver("auto")).connect(join(folder, DATABASE));
  const rows = db.prepare("SELECT id, head FROM runs ORDER BY id").all();
  db.close();
  return rows.map(([id, head]) => `${String(id)} ${String(head)}`);
}

/**
 * Puts {@link NAME} into every name of a folder's runs, as an attacker with write access to the file would: the chain
 * is recomputed.
 */
export async function forgeNames(folder: string): Promise<void> {
  const driver = await chooseDriver("auto");
  const db = driver.connect(join(folder, DATABASE));
  const inJson = JSON.stringify(NAME).slice(1, -1);
  const heads = new Map<number, string>();
  for (const [id, run, head] of db.prepare("SELECT id, run, head FROM journal ORDER BY run, seq").all()) {
    const before = heads.get(Number(run)) ?? "";
    const text = String(head)
      .replace(/^\{"p":"[^"]*"/, `{"p":"${before}"`)
      .replaceAll(TOKEN, () => inJson);
    heads.set(Number(run), digest(text));
    db.prepare("UPDATE journal SET head = ? WHERE id = ?").run(text, id as number);
  }
  for (const [n, workflow, version, waiting, error, owner] of db
    .prepare("SELECT n, workflow, version, waiting, error, owner FROM runs")
    .all()) {
    const named = (value: unknown, by: string) =>
      typeof value === "string" ? value.replaceAll(TOKEN, () => by) : (value as null);
    db.prepare(
      "UPDATE runs SET workflow = ?, version = ?, waiting = ?, error = ?, owner = ?, head = ? WHERE n = ?",
    ).run(
      named(workflow, NAME),
      named(version, NAME),
      named(waiting, inJson),
      named(error, NAME),
      named(owner, NAME),
      heads.get(Number(n)) ?? "",
      n as number,
    );
  }
  // Makes copies smaller and faster to open.
  db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
  db.close();
}
