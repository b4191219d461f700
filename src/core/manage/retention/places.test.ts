import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import {
  chat,
  checkpointsOf,
  codeOf,
  journal,
  rowOf,
  run,
  stateAt,
  verify,
} from "../../../../test/support/retention.ts";
import { programs } from "../../../../test/support/retention-program.ts";
import { complete, labStage, pruneAndCompare } from "../../../../test/support/retention-stage.ts";
import { testKeyring } from "../../../../test/support/sealed.ts";
import { packStore, sealStore } from "../../../security/index.ts";
import { openSqliteStore } from "../../../stores/sqlite/index.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import type { Store } from "../../store/contract.ts";

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-retention-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WRAPPED: Readonly<Record<string, (inner: Store) => Promise<Store>>> = {
  packed: async (inner) => packStore(inner),
  sealed: (inner) => sealStore(inner, { keyring: testKeyring("k") }),
};

describe.each(Object.entries(WRAPPED))("retention on a store that is %s", (_, wrap) => {
  it("keeps the same, and comes to the same result", { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(programs(["gate", "doubt", "child"]), async (program) => {
      const expected = await complete(labStage(createLab()), program, async () => undefined);
      const plain = createLab();
      const store = await wrap(plain.store);
      const lab: Lab = {
        ...plain,
        store,
        engine: (flows, options) => plain.engine(flows, { store, ...options }),
      };
      const seen = new Map<number, unknown>();
      const round = { policy: { keepLast: 2, maxAge: 0 }, batch: 17, breakAfter: 2 };
      const found = await complete(labStage(lab), program, (stage, engine) =>
        pruneAndCompare(stage, engine, round, seen),
      );
      expect(found).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 2, seed: 5 });
  });
});

describe("a run that lost the values of its older checkpoints", () => {
  it("goes on in another store, and loses the rest there", async () => {
    const [here, there] = [createLab(), createLab()];
    const flow = chat(90);
    const engine = here.engine([flow]);
    await run(here, engine, flow, "a", "i".repeat(20_000));
    const all = await checkpointsOf(here.store, "a");
    await here.drive(engine.retention.prune({ keepLast: 3 }));
    const lines: string[] = [];
    const head = await stateAt(here.store, "a");
    await here.drive(engine.pause("a"));
    for await (const line of engine.transfer.exportRun("a")) lines.push(line);
    const other = there.engine([flow]);
    await there.drive(other.transfer.importRuns(linesOf(lines), { accept: { actor: "ops" } }));
    await verify(there.store, "a");
    expect(await stateAt(there.store, "a", all.at(-1) ?? 0)).toEqual(
      await stateAt(here.store, "a", all.at(-1)),
    );
    expect(await codeOf(stateAt(there.store, "a", all[10]))).toBe("HF-1023");
    expect(await stateAt(there.store, "a", (await rowOf(here.store, "a")).seq)).toMatchObject({
      view: (head as { view: object }).view,
    });
    await there.drive(other.resume("a"));
    await there.drive(other.settled("a"));
    await there.drive(other.answer("a", "ok", { choice: "yes" }));
    expect(await there.drive(other.result("a"))).toMatchObject({ choice: "yes", count: 5 });
    expect((await there.drive(other.retention.prune({ maxAge: 0 }))).runs).toMatchObject([{ pruned: true }]);
    expect((await journal(there.store, "a")).every(({ data }) => data === null)).toBe(true);
  });
});

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

describe("a run that comes back with a backup", () => {
  it("has its values again, and loses them again when its time has come", async () => {
    const [file, backup] = [path.join(folder, "runs.db"), path.join(folder, "backup.db")];
    const clock = createFakeClock();
    const flow = chat(40);
    const opened = async () => createLab(await openSqliteStore({ file, clock }));
    const lab = await opened();
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    await lab.drive(engine.cancel("a"));
    const before = await stateAt(lab.store, "a");
    await lab.crash(engine);
    await lab.store.close();
    copyFileSync(file, backup);
    const pruning = await opened();
    const first = pruning.engine([], { execute: false });
    await pruning.drive(first.retention.prune({ maxAge: 0 }));
    await pruning.store.close();
    for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
    copyFileSync(backup, file);
    const back = await opened();
    await back.store.markRestored?.();
    expect(await stateAt(back.store, "a")).toEqual(before);
    const again = back.engine([flow]);
    expect((await back.drive(again.retention.prune({ maxAge: 0 }))).runs).toMatchObject([{ pruned: true }]);
    await verify(back.store, "a");
    expect((await journal(back.store, "a")).every(({ data }) => data === null)).toBe(true);
    await back.crash(again);
    await back.store.close();
  });
});
