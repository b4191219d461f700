import { expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type Migration, workflow } from "../../index.ts";
import type { Store } from "../store/contract.ts";

const MIGRATIONS: readonly Migration[] = [
  { from: "1", to: "2", rename: { team: "crew" } },
  { from: "2", to: "1", rename: { crew: "team" } },
];

it("a child tells its parent how it ended, whatever the parent's code calls it by then", async () => {
  const lab = createLab();
  const make = (version: "1" | "2") => {
    const child = workflow("child", async (ctx) => (await ctx.gate("ok", { choices: ["yes"] })).choice);
    const parent = workflow("parent", { version, migrations: MIGRATIONS }, (ctx) =>
      ctx.child(version === "1" ? "team" : "crew", child, undefined),
    );
    return { child, parent };
  };
  const [first, second] = [make("1"), make("2")];
  // The first process dies between its intent and the child's first write.
  const dying: Store = {
    ...lab.store,
    append: (batch) =>
      batch.some(({ run, expect: known }) => run.parent !== null && known === null)
        ? new Promise(() => undefined)
        : lab.store.append(batch),
  };
  const engine = lab.engine([first.parent, first.child], { store: dying });
  await lab.drive(engine.start(first.parent, undefined, { id: "r" }));
  await lab.clock.advance(1_000);
  const next = await lab.afterCrash(engine, [second.parent, second.child], "r");
  const [child] = (await lab.store.list({ parent: "r", limit: 1 })).runs;
  expect(child?.parent).toEqual({ runId: "r", step: "crew" });
  await lab.crash(next.engine);
  const back = lab.engine([first.parent, first.child]);
  await lab.drive(back.pause("r"));
  await lab.drive(back.resume("r"));
  await lab.drive(back.settled("r"));
  expect(await back.get("r")).toMatchObject({ version: "1", waiting: [{ kind: "child", step: "team" }] });
  await lab.drive(back.answer(child?.id ?? "", "ok", { choice: "yes" }));
  expect(await lab.drive(back.result("r"))).toBe("yes");
});
