import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunPlan, Strike } from "../../lab/crash/config.ts";
import { expectations, nameOf, strikesOf, uninterrupted } from "../../lab/crash/matrix.ts";
import { type Expectations, Lab, resultProblems } from "../../lab/crash/site.ts";
import { spread } from "../../src/testing/spread.ts";
import { sampled } from "../support/exhaustive.ts";
import { inLanes, journalOf } from "./journals.ts";

const runs: RunPlan[] = (["sequence", "group", "family", "undo"] as const).map((scenario) => ({
  id: `${scenario}-1`,
  scenario,
}));
/** Where the first process dies: every run has something in progress that version 2 has renamed. */
const FIRST: readonly Strike[] = [
  { point: "C05:before-call", nth: 6 },
  { point: "C07:after-call", nth: 9 },
];
const LIMIT = sampled(6);

let lab: Lab;
let expected: Expectations;

beforeAll(async () => {
  lab = await Lab.open();
  expected = expectations(await uninterrupted(lab, runs), runs);
});

afterAll(async () => {
  await lab.close();
});

describe("a run that is taken up by code of another version", () => {
  it.each(FIRST)(
    "is migrated or not, never between, when the process dies at any write (%o)",
    async (first) => {
      const begin = async () => {
        const site = await lab.site();
        expect((await site.run({ runs, version: "1", kill: first })).signal).toBe("SIGKILL");
        return site;
      };
      const whole = await begin();
      const [report] = (await whole.run({ runs, version: "2" })).reports;
      if (!report) throw new Error("The process did not report.");
      expect(await whole.check("not killed")).toEqual([]);
      let migrated = 0;
      await inLanes(spread(strikesOf(report, ["write"]), LIMIT), async (kill, index) => {
        const at = nameOf("migration", kill);
        const site = await begin();
        await site.run({ runs, version: "2", kill });
        for (const { id } of runs) {
          const left = await journalOf(site, id);
          const hops = (left?.entries.flat() ?? []).filter(({ kind }) => kind === "run_migrated");
          expect(hops.length, `${at}: ${id}`).toBeLessThanOrEqual(1);
          if (left?.entries[0]?.[0]?.kind === "run_created" && hops.length > 0) {
            expect(left.row.version, `${at}: ${id}`).toBe("2");
            migrated++;
          }
        }
        expect(await site.check(at, { healed: false })).toEqual([]);
        const last = await site.run({ runs, version: index % 2 === 0 ? "2" : "1" });
        expect([...resultProblems(at, runs, last, expected), ...(await site.check(at))]).toEqual([]);
        await site.remove();
      });
      expect(migrated).toBeGreaterThan(0);
    },
  );
});
