import { afterAll, describe, expect, it } from "vitest";
import { isExhaustive } from "../support/exhaustive.ts";
import { useFolders } from "../support/folders.ts";
import { sharedPostgres } from "../support/services/postgres.ts";
import { filePatient, postgresPatient, sqlitePatient } from "./patients.ts";
import { expectations, type Patient, trial, type Verdict } from "./trial.ts";

/** 300 bits and 100 rows of each store in an exhaustive run; else a sample. `HOLDFAST_DAMAGE_SEED` for others. */
const [FLIPS, EDITS] = isExhaustive ? [300, 100] : [20, 12];
const SEED = Number(process.env["HOLDFAST_DAMAGE_SEED"] ?? 10);

const newFolder = useFolders("damage");
const postgres = await sharedPostgres();
const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends) await end();
});

function onPostgres(url: string): Patient {
  const patient = postgresPatient(url, `damage_${process.pid}`);
  ends.push(() => patient.end());
  return patient;
}

const PATIENTS: readonly [string, () => Patient][] = [
  ["SQLite", () => sqlitePatient(newFolder())],
  ["files", () => filePatient(newFolder())],
  ...(postgres.url === undefined
    ? []
    : [["PostgreSQL", () => onPostgres(postgres.url as string)] as [string, () => Patient]]),
];

describe.each(PATIENTS)("damage to what is stored in %s", (_, make) => {
  it("is detected or harmless, and verify finds what matters (E2, D2, D3, E16)", {
    timeout: isExhaustive ? 3_600_000 : 300_000,
  }, async () => {
    const patient = make();
    const expected = await expectations(patient);
    const verdicts: Verdict[] = [];
    for (let n = 0; n < FLIPS; n++) verdicts.push(await trial(patient, expected, "flip", SEED * 100_000 + n));
    for (let n = 0; n < EDITS; n++)
      verdicts.push(await trial(patient, expected, "edit", SEED * 100_000 + 50_000 + n));
    const count = (kind: Verdict["kind"]): number => verdicts.filter((one) => one.kind === kind).length;
    console.log(
      `${patient.name}: ${FLIPS} bits and ${EDITS} rows: ${count("detected")} detected, ${count("harmless")} harmless`,
    );
    expect(verdicts.filter(({ kind }) => kind !== "detected" && kind !== "harmless")).toEqual([]);
    expect(count("detected")).toBeGreaterThan(0);
  });
});
