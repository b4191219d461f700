import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import type { Store } from "../../src/index.ts";
import { createEngine, type Engine, type Workflow, workflow } from "../../src/index.ts";

const FOLDER = path.resolve(import.meta.dirname, "../data/stores");

/** Stores of one kind written by earlier commits, by commit; see scripts/store-fixture.mjs. */
export function oldStores(
  kind: "sqlite" | "file.json" | "postgres.sql" | "redis.json" | "dynamodb.json",
): [commit: string, content: Buffer][] {
  const ending = `.${kind}.gz`;
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(ending));
  return names.map((name) => [
    name.slice(0, -ending.length),
    gunzipSync(readFileSync(path.join(FOLDER, name))),
  ]);
}

/** Checks that there is a store of every version before `newest`, so that a new version needs one of its predecessor. */
export function ofEveryVersion(versions: readonly (number | string | undefined)[], newest: number): void {
  it("is there of every earlier version", () => {
    const earlier = Array.from({ length: newest - 1 }, (_, n) => n + 1);
    expect([...new Set(versions.map(Number))].toSorted((a, b) => a - b)).toEqual(
      expect.arrayContaining(earlier),
    );
  });
}

/** Lays out the files of a folder. */
export function layOut(folder: string, content: Buffer): void {
  const files = JSON.parse(content.toString("utf8")) as Readonly<Record<string, string>>;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

const said = (n: number): string =>
  `${n} ${createHash("sha256").update(String(n)).digest("hex")} `.repeat(13);

/** The same workflows that wrote them. */
function flows(calls: string[]): Workflow<never, unknown>[] {
  const child = workflow("child", (ctx, n: number) => ctx.step("work", () => n * 2));
  return [
    workflow("completed", async () => expect.unreachable()),
    workflow("asks", async (ctx) => {
      await ctx.step("prepare", () => calls.push("prepare"));
      const answer = await ctx.gate("approve", { show: { amount: 10 }, choices: ["yes", "no"] });
      return ctx.step("send", () => (calls.push("send"), answer.choice), { effect: "once" });
    }),
    workflow("loops", async (ctx) =>
      ctx.loop("turn", { log: [] as string[] }, async (state, turn) => {
        const iteration = state.log.length;
        state.log.push(await ctx.step("say", () => said((calls.push(`say ${iteration}`), iteration))));
        if (iteration === 40) await ctx.gate("more", { choices: ["go"] });
        return iteration >= 42 ? turn.done() : undefined;
      }),
    ),
    workflow("fails", async (ctx) => {
      await ctx.step("first", () => calls.push("first"));
      return ctx.step("second", () => (calls.push("second"), "mended"));
    }),
    workflow("dies", async (ctx) => {
      await ctx.step("first", () => calls.push("first"));
      return ctx.step("mail", () => calls.push("mail"), { effect: "once" });
    }),
    child,
    workflow("parent", async (ctx) => {
      const done = await ctx.child("one", child, 21);
      await ctx.gate("two", { choices: ["go"] });
      return done;
    }),
  ];
}

async function everyRunIsSound(engine: Engine): Promise<string[]> {
  const { runs } = await engine.list({ limit: 100 });
  for (const { id } of runs) {
    const { ok, problems, restorable } = await engine.checkpoints.validate(id);
    expect({ id, ok, problems, restorable }).toEqual({ id, ok: true, problems: [], restorable: true });
    expect((await engine.reports.trail(id)).verified, id).toBe(true);
  }
  return runs.map(({ id }) => id);
}

/** Checks what every upgrade guarantees for runs of an older version: they verify, and they continue. */
export function goesOn(commit: string, open: () => Promise<Store>): void {
  it(`written by ${commit} is found sound, goes on and is sound again (R1)`, async () => {
    const calls: string[] = [];
    const store = await open();
    // Late enough that no earlier claim holder is alive.
    const engine = createEngine({ store, workflows: flows(calls) });
    const ids = await everyRunIsSound(engine);
    expect(ids).toEqual(expect.arrayContaining(["asks", "completed", "dies", "fails", "loops", "parent"]));
    expect(await engine.result("completed")).toMatch(/^All work and no play/);
    await engine.resume("asks", { actor: "bob" });
    await engine.settled("asks");
    await engine.answer("asks", "approve", { choice: "yes", actor: "bob" });
    expect(await engine.result("asks")).toBe("yes");
    for (const id of ids.filter((one) => one === "loops" || one === "forked")) {
      const [gate] = await engine.gates(id);
      await engine.answer(id, gate?.gate ?? "", { choice: "go" });
      const { log } = await engine.result<{ log: string[] }>(id);
      expect(log).toEqual(Array.from({ length: 43 }, (_, n) => said(n)));
    }
    await engine.answer("parent", "two", { choice: "go" });
    expect(await engine.result("parent")).toBe(42);
    await engine.resume("fails");
    expect(await engine.result("fails")).toBe("mended");
    await engine.recover();
    expect(await engine.settled("dies")).toMatchObject({ waiting: [{ kind: "decision", step: "mail" }] });
    await engine.resolve("dies", "mail", { action: "done", value: 1 });
    expect(await engine.result("dies")).toBe(1);
    // Nothing finished before is repeated.
    const twice = ids.includes("forked") ? 2 : 1;
    const further = Array.from({ length: twice }, () => ["say 41", "say 42"]).flat();
    expect(calls.toSorted()).toEqual(["send", "second", ...further].toSorted());
    await everyRunIsSound(engine);
    await engine.close();
    await store.close();
  });
}
