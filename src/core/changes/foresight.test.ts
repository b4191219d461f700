import { describe, expect, it } from "vitest";
import {
  type Code,
  compile,
  Dice,
  firstCode,
  nextCode,
  Outside,
} from "../../../test/support/changing-code.ts";
import { sampled } from "../../../test/support/exhaustive.ts";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import type { Engine, Workflow } from "../../index.ts";
import type { RunMigration } from "../../manage.ts";
import { parseEntry } from "../journal/journal.ts";
import type { RunRow } from "../types.ts";

const RUNS = 100;
const DEPLOYS = 4;
const SEEDS = Array.from({ length: sampled(12, 120) }, (_, i) => i + 1);

const ids = Array.from({ length: RUNS }, (_, i) => `run-${String(i).padStart(3, "0")}`);

interface Site {
  readonly lab: Lab;
  readonly dice: Dice;
  readonly outside: Outside;
  /** Runs whose children were told to go on: when these end is not foreseen. */
  readonly stirred: Set<string>;
  /** Runs that somebody had go on as they are: what the new code does again there is their word. */
  readonly waived: Set<string>;
}

const rowOf = async ({ lab }: Site, id: string): Promise<RunRow> => (await lab.store.read(id)) as RunRow;

/** Something happens to a run, by whoever stands outside: answers, messages, decisions; or just a pause and a resume. */
async function prod(site: Site, engine: Engine, id: string): Promise<void> {
  const { dice } = site;
  const { status, waiting } = await rowOf(site, id);
  if (status === "completed" || status === "cancelled") return;
  if (status === "failed" || status === "paused") return void (await engine.resume(id));
  const wait = dice.pick([undefined, ...waiting]);
  if (wait?.kind === "gate") await engine.answer(id, wait.step, { choice: "yes" });
  else if (wait?.kind === "signal") await engine.signal(id, wait.names?.[0] ?? "");
  else if (wait?.kind === "decision") await engine.resolve(id, wait.step, { action: "done", value: "told" });
  else if (wait?.kind === "child") {
    site.stirred.add(id);
    for (const { gate } of await engine.gates(wait.detail ?? ""))
      await engine.answer(wait.detail ?? "", gate, { choice: "yes" });
  } else if (wait?.kind === "migration" && dice.roll(4) === 0) {
    site.waived.add(id);
    await engine.migrations.asIs(id);
  } else if (dice.roll(2) === 0) {
    await engine.pause(id);
    await engine.resume(id);
  }
}

/** A hundred runs, stopped all over the place by a process that died. */
async function underWay(site: Site, flows: readonly Workflow<never, unknown>[]): Promise<void> {
  const { lab, dice, outside } = site;
  const engine = lab.engine(flows);
  await lab.drive(Promise.all(ids.map((id) => engine.start(flows[0] as Workflow, undefined, { id }))));
  await lab.clock.advance(2_000);
  for (let round = 0; round < 3; round++) {
    const some = ids.filter(() => dice.roll(3) > 0);
    await lab.drive(Promise.all(some.map((id) => prod(site, engine, id).catch(expected))));
    await lab.clock.advance(2_000);
  }
  await lab.drive(
    Promise.all(ids.filter(() => dice.roll(6) === 0).map((id) => engine.pause(id).catch(expected))),
  );
  outside.dying = false;
  await lab.crash(engine);
  await lab.clock.advance(30_000);
}

/** A run that has ended cannot be paused, and one that has gone on is not where it was a moment ago. */
const expected = (error: unknown): void =>
  expect(error).toMatchObject({ code: expect.stringMatching(/^HF-1/) as string });

const counts = new Map<string, number>();
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

/** The run did what was foreseen, to the letter. */
async function expectForeseen(
  site: Site,
  before: RunRow,
  foreseen: RunMigration,
  because: string,
): Promise<void> {
  const { runId, next, at = [], missing = [], problem, hops, from } = foreseen;
  const after = await rowOf(site, runId);
  const entries = await site.lab.store.entries(runId, { from: before.seq + 1, limit: 1_000 });
  const events = entries.flatMap((entry) => parseEntry(runId, entry).events);
  const started = events.flatMap(({ kind, step }) => (kind === "step_started" ? [step] : []));
  const held = after.waiting.filter(({ kind }) => kind === "migration");
  const told = `${because}: ${runId} ${JSON.stringify({ next, at, missing, problem, waiting: after.waiting, started, status: after.status, error: after.error })}`;
  const isStuck =
    problem?.startsWith("HF-2114") || problem?.startsWith("HF-2115") || problem?.startsWith("HF-2161");
  expect(after.version, told).toBe(isStuck ? from : (hops.at(-1) ?? from));
  if (next === "parks") {
    expect(after.status, told).toBe("waiting");
    expect(held.map(({ detail }) => detail).join(" "), told).toBe(problem);
    expect(started, told).toEqual([]);
  } else if (next === "waits") {
    expect(after.status, told).toBe("waiting");
    expect(after.waiting.map(({ step }) => step).sort(), told).toEqual([...at].sort());
  } else if (next === "completes" || next === "fails") {
    expect(after.status, told).toBe(next === "completes" ? "completed" : "failed");
  } else {
    expect(next, told).toBe("goes on");
    expect(at.some((step) => started.includes(step)) || after.version !== from, told).toBe(true);
    // Behind what it starts nobody can see; but what is not asked for was said.
    const unasked = held.flatMap(
      ({ detail = "" }) =>
        /^HF-21(?:21|62).* ask(?:ing)? for (.*?)(?: any more)?\. /.exec(detail)?.[1]?.split(", ") ?? [],
    );
    const isInside = (key: string): boolean => at.some((outer) => key.startsWith(`${outer}/`));
    for (const key of unasked.filter((one) => !isInside(one))) expect(missing, told).toContain(key);
  }
  if (after.status === "failed") expect(after.error, told).toBe("broken");
  count(next === "parks" ? `parks ${problem?.slice(0, 7)}` : String(next));
}

/** Every run is somewhere, and every one that does not move says why. */
async function expectNoneLost(site: Site, because: string): Promise<void> {
  for (const id of ids) {
    const { status, waiting, error } = await rowOf(site, id);
    expect(["completed", "failed", "paused", "waiting"], `${because}: ${id}`).toContain(status);
    if (status === "waiting") expect(waiting, `${because}: ${id}`).not.toEqual([]);
    if (status === "failed") expect(error, `${because}: ${id}`).toBe("broken");
  }
  const twice = site.outside.twice.filter((at) => !site.waived.has(at.slice(0, at.indexOf(" "))));
  expect(twice, because).toEqual([]);
}

const settled = ({ lab }: Site, engine: Engine) =>
  lab.drive(Promise.all(ids.map((id) => engine.settled(id))));

/** People do things, the dry run tells what will become of it, and a worker with the new code does it. */
async function deployed(
  site: Site,
  flows: readonly Workflow<never, unknown>[],
  because: string,
): Promise<void> {
  const { lab, dice } = site;
  const idle = lab.engine(flows, { execute: false });
  site.stirred.clear();
  const some = ids.filter(() => dice.roll(5) > 0);
  await lab.drive(Promise.all(some.map((id) => prod(site, idle, id))));
  const { runs } = await lab.drive(idle.migrations.check({ workflow: "main" }));
  const before = new Map(await Promise.all(ids.map(async (id) => [id, await rowOf(site, id)] as const)));
  const engine = lab.engine(flows);
  await lab.drive(engine.recover());
  // With the time that a run of an unknown version is left to others.
  await lab.clock.advance(30_000);
  await settled(site, engine);
  for (const foreseen of runs) {
    const row = before.get(foreseen.runId) as RunRow;
    const isHeld = row.waiting.some(({ kind }) => kind === "migration");
    // One that waits already is not taken up by code that cannot go on with it either.
    const isLeft = row.status === "waiting" && isHeld && foreseen.problem?.startsWith("HF-2114");
    const isTaken = row.status === "queued" || row.status === "running" || isHeld;
    const isTimed = row.status === "waiting" && (row.wakeAt ?? Number.POSITIVE_INFINITY) < lab.clock.now();
    // One that was told to stop does that first, and time goes on.
    if (site.stirred.has(row.id) || row.control === "pausing" || isTimed) continue;
    if (isTaken && !isLeft) await expectForeseen(site, row, foreseen, because);
    else expect((await rowOf(site, row.id)).seq, `${because}: ${row.id}`).toBe(row.seq);
  }
  await lab.crash(engine);
  await lab.clock.advance(30_000);
  await expectNoneLost(site, because);
}

/** Old and new code at once on one store. */
async function overlapping(
  site: Site,
  both: readonly (readonly Workflow<never, unknown>[])[],
  because: string,
): Promise<void> {
  const { lab } = site;
  const engines = both.map((flows) => lab.engine(flows));
  const [first] = engines as [Engine];
  await lab.drive(Promise.all(ids.map((id) => prod(site, first, id).catch(expected))));
  await lab.drive(Promise.all(engines.map((engine) => engine.recover())));
  await lab.clock.advance(60_000);
  await settled(site, first);
  for (const engine of engines) await lab.crash(engine);
  await lab.clock.advance(30_000);
  await expectNoneLost(site, because);
}

describe("whatever is deployed while a hundred runs are stopped anywhere", () => {
  it.each(SEEDS)(
    "each run does what the dry run said, none is lost, and nothing happens twice (%i)",
    async (seed) => {
      const site: Site = {
        lab: createLab(),
        dice: new Dice(seed * 7_919),
        outside: new Outside(),
        stirred: new Set(),
        waived: new Set(),
      };
      const history: Code[] = [firstCode(site.dice)];
      await underWay(site, compile(history[0] as Code, site.outside));
      for (let deploy = 1; deploy <= DEPLOYS; deploy++) {
        const isBack = site.dice.roll(5) === 0;
        const last = history.at(-1) as Code;
        const code = isBack
          ? { ...site.dice.pick(history), manner: "back", what: "an older version" }
          : nextCode(site.dice, last);
        const because = `seed ${seed}, deploy ${deploy}: ${code.what} (${code.manner})`;
        count(code.manner);
        const flows = compile(code, site.outside);
        if (site.dice.roll(4) === 0) await overlapping(site, [compile(last, site.outside), flows], because);
        await deployed(site, flows, because);
        history.push(code);
      }
    },
    120_000,
  );

  it("has been seen with every manner and every end", () => {
    if (SEEDS.length > 12) process.stdout.write(`${JSON.stringify(Object.fromEntries(counts))}\n`);
    const seen = [...counts.keys()];
    for (const what of [
      "with a migration",
      "without a word",
      "goes on",
      "waits",
      "parks HF-2114",
      "parks HF-2160",
    ])
      expect(seen).toContain(what);
  });
});
