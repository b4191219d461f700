import { describe, expect, it } from "vitest";
import { allRuns, answerUntil } from "../../../../test/support/answers.ts";
import { checkpointsOf, digestAt, family } from "../../../../test/support/family.ts";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import type { Engine } from "../../../index.ts";
import { checkInvariants } from "../../../testing/invariants/invariants.ts";

/** Every checkpoint of every run, with the digest of its state and the head of its journal. */
async function digests(lab: Lab, ids: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const id of ids)
    for (const seq of await checkpointsOf(lab.store, id))
      found.set(`${id}@${seq}`, await digestAt(lab.store, id, seq));
  return found;
}

/** Says yes at gates, takes for done what nobody knows of, until every run has ended. */
const allToTheEnd = (lab: Lab, engine: Engine): Promise<void> =>
  answerUntil(
    lab,
    engine,
    async () => (await allRuns(lab)).every(({ status }) => status === "completed"),
    ({ choices }) => (choices.includes("done") ? "done" : (choices[0] as string)),
  );

describe("forks of a run of three levels, while it is under way", () => {
  it("have at every checkpoint of every level the state of their source, go on to the end, and change nothing of it", async () => {
    const levels = new Set<string>();
    let forks = 0;
    for (let ms = 30; ms <= 330; ms += 30) {
      const lab = createLab();
      const { root, flows } = family(lab);
      const first = lab.engine(flows);
      await lab.drive(first.start(root, { start: 5 }, { id: "r" }));
      await lab.clock.advance(200);
      await lab.drive(first.answer("r", "agree", { choice: "yes" }));
      await lab.clock.advance(ms);
      await lab.crash(first);
      await lab.clock.advance(20_000);
      const sources = await allRuns(lab);
      const before = await digests(
        lab,
        sources.map(({ id }) => id),
      );
      const desk = lab.engine(flows, { execute: false });
      // Of the root not all, since most are those of the moment before.
      const places = [...before.keys()]
        .filter((place) => !place.startsWith("r@"))
        .concat([...before.keys()].filter((place) => place.startsWith("r@")).slice(-3));
      const made = new Map<string, string>();
      for (const place of places) {
        const id = `f-${place.replace("@", "-")}`;
        await lab.drive(desk.fork(place, { id }));
        made.set(id, place);
        expect(await digestAt(lab.store, id, Number(place.split("@")[1])), place).toBe(before.get(place));
        levels.add(sources.find((row) => place.startsWith(`${row.id}@`))?.workflow ?? "");
      }
      for (const row of sources) expect(await lab.store.read(row.id)).toEqual(row);
      const engine = lab.engine(flows);
      await lab.drive(engine.recover());
      await allToTheEnd(lab, engine);
      // The sources have gone on meanwhile; what they were at each checkpoint stands.
      expect(
        await digests(
          lab,
          sources.map(({ id }) => id),
        ),
      ).toEqual(
        new Map([
          ...(await digests(
            lab,
            sources.map(({ id }) => id),
          )),
          ...before,
        ]),
      );
      for (const id of made.keys()) expect((await engine.checkpoints.validate(id)).ok, id).toBe(true);
      for (const { id } of sources) expect((await engine.checkpoints.validate(id)).ok, id).toBe(true);
      const underWay = (await allRuns(lab)).filter(({ parent, origin }) => parent && origin);
      forks += made.size + underWay.length;
      expect(await checkInvariants(lab.store, { calls: [] })).toEqual([]);
      await lab.crash(engine);
    }
    expect([...levels].sort()).toEqual(["child", "grandchild", "root"]);
    expect(forks).toBeGreaterThan(50);
  }, 240_000);
});
