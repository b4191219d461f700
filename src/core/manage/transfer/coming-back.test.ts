import { describe, expect, it } from "vitest";
import { code } from "../../../../test/support/code.ts";
import { createEngine, type Engine, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import { checkInvariants } from "../../../testing/invariants/invariants.ts";
import { silentLogger } from "../../logger.ts";
import type { Store } from "../../store/contract.ts";

const LONG = "a long value ".repeat(1_000);
const sent: string[] = [];

const flow = workflow("flow", async (ctx) => {
  const done = [];
  for (const place of ["home", "there", "end"]) {
    done.push(await ctx.step(place, () => (sent.push(place), `${place} ${LONG}`), { effect: "once" }));
    await ctx.gate(`after ${place}`, { choices: ["yes"] });
  }
  return done.map((one) => one.split(" ")[0]);
});

const accept = { actor: "ops" };
const engineOn = (store: Store): Engine => createEngine({ store, workflows: [flow], logger: silentLogger });

async function answered(engine: Engine, gate: string): Promise<void> {
  await engine.answer("r", `after ${gate}`, { choice: "yes", actor: "ada" });
  await engine.settled("r");
}

/** Copies the run from one engine, where it is stopped, to another. */
async function move(from: Engine, to: Engine, isNew = false): Promise<void> {
  await from.pause("r");
  await from.settled("r");
  const lines = from.transfer.exportRun("r");
  await to.transfer.importRuns(lines, isNew ? { accept } : { accept, onConflict: "update" });
  await to.resume("r");
  await to.settled("r");
}

/** A run that was started at home and is now in the other store, where it has done its second step. */
async function movedAway() {
  sent.length = 0;
  const stores = { home: createMemoryStore(), there: createMemoryStore() };
  const [home, there] = [engineOn(stores.home), engineOn(stores.there)];
  await home.start(flow, undefined, { id: "r" });
  await home.settled("r");
  await move(home, there, true);
  await answered(there, "home");
  return { stores, home, there };
}

const update = (from: Engine, to: Engine): Promise<string> =>
  code(to.transfer.importRuns(from.transfer.exportRun("r"), { accept, onConflict: "update" }));

describe("a run that comes back to the store it came from", () => {
  it("goes on there with what happened elsewhere, and nothing is done twice (D11)", async () => {
    const { stores, home, there } = await movedAway();
    await move(there, home);
    await answered(home, "there");
    // As often as one likes.
    await move(home, there);
    await move(there, home);
    await answered(home, "end");
    expect(await home.result("r")).toEqual(["home", "there", "end"]);
    expect(sent).toEqual(["home", "there", "end"]);
    for (const engine of [home, there]) expect((await engine.reports.verify()).damaged).toEqual([]);
    expect(await checkInvariants(stores.home, { calls: [] })).toEqual([]);
  });

  it("is left as it is when the bundle has nothing new (D11)", async () => {
    const { home, there } = await movedAway();
    await move(there, home);
    const again = home.transfer.importRuns(home.transfer.exportRun("r"), { onConflict: "update" });
    expect(await again).toEqual({ imported: [], skipped: ["r"], review: [] });
  });

  it("waits for a review unless somebody accepts it (D11, X1)", async () => {
    const { home, there } = await movedAway();
    const report = await home.transfer.importRuns(there.transfer.exportRun("r"), { onConflict: "update" });
    expect(report).toEqual({ imported: ["r"], skipped: [], review: ["r"] });
    expect(await home.get("r")).toMatchObject({ status: "waiting", waiting: [{ kind: "review" }] });
  });

  it("is refused when the run here has gone on too, and both stay as they are (D11)", async () => {
    const { stores, home, there } = await movedAway();
    await home.resume("r");
    await answered(home, "home");
    const before = await stores.home.read("r");
    expect(await update(there, home)).toBe("HF-3100");
    expect(await update(home, there)).toBe("HF-3100");
    expect(await stores.home.read("r")).toEqual(before);
  });

  it("is refused when the bundle is older than what is here (D11)", async () => {
    const { home, there } = await movedAway();
    expect(await update(home, there)).toBe("HF-3100");
  });

  it("loses here the values that retention has dropped elsewhere (D11)", async () => {
    const { stores, home, there } = await movedAway();
    await answered(there, "there");
    await answered(there, "end");
    await there.result("r");
    await there.retention.prune({ maxAge: 0 });
    expect(await update(there, home)).toBe("taken");
    const texts = JSON.stringify(await stores.home.entries("r", { from: 1, limit: 1_000 }));
    const blobs = await stores.home.blobNames?.("r");
    expect([texts.includes("a long value"), blobs]).toEqual([false, []]);
    expect((await home.reports.verify()).damaged).toEqual([]);
  });
});
