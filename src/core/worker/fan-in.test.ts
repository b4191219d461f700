import path from "node:path";
import { describe, expect, it } from "vitest";
import { fanIn, fanIns, inProportion, sumOfDoubles } from "../../../test/support/fan-in.ts";
import { useFolders } from "../../../test/support/folders.ts";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";
import type { Store } from "../store/contract.ts";

const folder = useFolders("fan-in");

describe("many children of one run", () => {
  it("ends 120 children on one store in memory (E1)", async () => {
    expect((await fanIn(createMemoryStore(), 120)).result).toBe(sumOfDoubles(120));
  });

  it("reads a number of entries and rows in proportion to the number of children (E8)", async () => {
    expect(await fanIns(async () => createMemoryStore())).toSatisfy(inProportion);
  });

  it("ends 200 children on SQLite, and reads in proportion to their number (E1, E8)", async () => {
    let files = 0;
    const open = () => openSqliteStore({ file: path.join(folder(), `${files++}.db`) });
    expect(await fanIns(open)).toSatisfy(inProportion);
  });

  it("asks for no child again that it has waited for, when it is read anew (E8)", async () => {
    const one = workflow("one", (ctx) => ctx.signal("go"));
    const all = workflow("all", (ctx) =>
      Promise.all(Array.from({ length: 10 }, (_, n) => ctx.child(`child ${n}`, one, undefined))),
    );
    const lab = createLab();
    const made: string[] = [];
    const append: Store["append"] = (batch) => {
      made.push(...batch.flatMap(({ expect: before, run }) => (before === null ? [run.id] : [])));
      return lab.store.append(batch);
    };
    const engine = lab.engine([one, all], { store: { ...lab.store, append } });
    await lab.drive(engine.start(all, undefined, { id: "p" }));
    const epoch = async (): Promise<number> => (await lab.store.read("p"))?.claim.epoch ?? 0;
    for (const [told, id] of made.slice(1, 6).entries()) {
      for (const run of made) await lab.drive(engine.settled(run));
      expect(await epoch()).toBe(told + 1);
      await lab.drive(engine.signal(id, "go"));
      await lab.drive(engine.result(id));
      for (let n = 0; n < 100 && (await epoch()) === told + 1; n++) await lab.clock.advance(10);
    }
    expect(made).toHaveLength(11);
    expect((await lab.drive(engine.settled("p"))).openChildren).toBe(5);
  });
});
