import { afterAll, describe, expect, it } from "vitest";
import type { RunPlan, Strike } from "../../lab/crash/config.ts";
import { nameOf, strikesOf, uninterrupted } from "../../lab/crash/matrix.ts";
import { PATIENCE_MS } from "../../lab/crash/processes.ts";
import { Lab, type Problem, type Site } from "../../lab/crash/site.ts";
import { createEngine } from "../../src/index.ts";
import { spread } from "../../src/testing/spread.ts";
import { fileKind, pgliteKind, type StoreKind, sqliteKind } from "../../src/testing/store-kinds.ts";
import { isExhaustive, sampled } from "../support/exhaustive.ts";
import { type Servers, startServers } from "./servers.ts";

const LIMIT = sampled(4);
const RUN: RunPlan = { id: "undo-1", scenario: "undo" };
const UNDOABLE = ["reserve", "pay", "ship"];

const servers = (await startServers()) as Servers;
afterAll(() => servers?.close());

/** Effects done and not undone, undone without having been done, or undone twice where only once is allowed. */
function unbalanced(site: Site): string[] {
  const done = site.witness.calls().filter(({ outcome }) => outcome === "done");
  const count = (deed: string): number => done.filter((call) => call.deed === deed).length;
  return UNDOABLE.flatMap((deed) => {
    const [did, undid] = [count(deed), count(`compensate/${deed}`)];
    const most = deed === "ship" ? Number.POSITIVE_INFINITY : 1;
    return did > 0 === undid > 0 && undid <= most ? [] : [`${deed}: done ${did}, undone ${undid}`];
  });
}

/**
 * One worker dies at the first place, a person cancels with undo, and the next worker dies at the second while undoing.
 */
async function cancelled(
  lab: Lab,
  first: Strike,
  second: Strike,
): Promise<{ kills: number; problems: Problem[] }> {
  const site = await lab.site();
  const at = `${nameOf("cancel", first)}, then ${nameOf("undo", second)}`;
  const runs = [RUN];
  const died = await site.run({ runs, kill: first });
  await site.read(async (store) => {
    const desk = createEngine({ store, execute: false });
    if (await desk.get(RUN.id)) await desk.cancel(RUN.id, { compensate: true, actor: "tester" });
    await desk.close();
  });
  const again = await site.run({ runs, kill: second });
  const last = await site.run({ runs });
  const say = (message: string): Problem => ({ at, rule: "result", runId: RUN.id, message });
  const end = last.reports[0]?.results[RUN.id]?.status;
  const problems = [
    ...(end === "cancelled" ? [] : [say(`It ended as ${end}. ${last.stderr}`)]),
    ...[died, again].filter(({ code }) => code !== 0 && code !== null).map(({ stderr }) => say(stderr)),
    ...unbalanced(site).map(say),
    ...(await site.check(at)),
  ];
  await site.remove();
  return { kills: [died, again].filter(({ signal }) => signal === "SIGKILL").length, problems };
}

async function everywhere(store: StoreKind): Promise<void> {
  // Only says that a worker hangs: every boundary takes some thousand processes, on whatever machine.
  const lab = await Lab.open({ store, patienceMs: isExhaustive ? 120_000 : PATIENCE_MS });
  const strikes = strikesOf(await uninterrupted(lab, [RUN]), ["write", "point"]);
  const chosen = spread(strikes, LIMIT);
  const problems: Problem[] = [];
  let kills = 0;
  const left = [...chosen.entries()];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next && problems.length < 10; next = left.shift()) {
      const [index, strike] = next;
      const second = { write: 1 + (index % 6), side: index % 2 === 0 ? "before" : "after" } as const;
      const result = await cancelled(lab, strike, second);
      kills += result.kills;
      problems.push(...result.problems);
    }
  };
  await Promise.all([lane(), lane()]);
  await lab.close();
  console.log(`cancel on ${store.name}: ${chosen.length} of ${strikes.length} boundaries, ${kills} kills`);
  expect(problems).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(chosen.length);
}

describe("a cancel with compensation, its workers killed before and during it (E20)", {
  timeout: isExhaustive ? 7_200_000 : 300_000,
}, () => {
  const title = "undoes on %s, once, whatever the outside world saw done";
  const [local, served] = [isExhaustive ? [pgliteKind] : [], isExhaustive ? (["tiered"] as const) : []];

  it.each([sqliteKind, fileKind, ...local].map((kind) => [kind.name, kind] as const))(title, (_, kind) =>
    everywhere(kind),
  );

  it.skipIf(!servers).each(["postgres", "redis", ...served] as const)(title, (name) =>
    everywhere(servers.kinds[name]),
  );
});
