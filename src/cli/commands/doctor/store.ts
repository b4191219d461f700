import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Engine } from "../../../core/engine/engine.ts";
import type { Store } from "../../../core/store/contract.ts";
import { everyRun } from "../../../core/store/query.ts";
import type { RunRow } from "../../../core/types.ts";
import { count, duration, plural } from "../../format.ts";
import { bytes } from "../../view/sizes.ts";
import { stalledSince, standingOf } from "../../view/standing.ts";
import { bad, type Check, ok, warn } from "./checks.ts";

const READS = 20;
const WRITES = 20;
/** The duration from which to warn. */
const SLOW_WRITE_MS = 50;
const SLOW_READ_MS = 250;
const SKEW_MS = 1_000;
const BAD_SKEW_MS = 10_000;

const p95 = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;

/** Measures reads, which leave no trace. */
export async function checkReads(store: Store): Promise<Check> {
  const times: number[] = [];
  for (let n = 0; n < READS; n++) {
    const start = performance.now();
    await store.list({ limit: 1 });
    times.push(performance.now() - start);
  }
  const text = `read p95 ${duration(p95(times))}`;
  return p95(times) > SLOW_READ_MS ? warn("reads", `${text}: slow`) : ok("reads", text);
}

/** How long the disk beside the store takes to make something durable. The store itself isn't written to. */
export function checkWrites(file: string): Check {
  const beside = join(dirname(file), `.holdfast-doctor-${randomUUID()}`);
  const times: number[] = [];
  const handle = openSync(beside, "wx", 0o600);
  try {
    for (let n = 0; n < WRITES; n++) {
      const start = performance.now();
      writeSync(handle, Buffer.alloc(2_048));
      fsyncSync(handle);
      times.push(performance.now() - start);
    }
  } finally {
    closeSync(handle);
    rmSync(beside, { force: true });
  }
  const text = `durable write beside it p95 ${duration(p95(times))}`;
  return p95(times) > SLOW_WRITE_MS
    ? warn("writes", `${text}: slow`, {
        advice: "Every step waits for one such write; a faster disk makes every run faster.",
      })
    : ok("writes", text);
}

/** The store's clock decides about claims. */
export async function checkClock(store: Store): Promise<Check> {
  const before = Date.now();
  const theirs = await store.now();
  const skew = Math.abs(theirs - (before + Date.now()) / 2);
  const text = `clock ${skew < SKEW_MS ? "agrees with the store's" : `is ${duration(skew)} off the store's`}`;
  if (skew >= BAD_SKEW_MS) return bad("clock", text, { advice: "Let the time of both be set by NTP." });
  return skew >= SKEW_MS
    ? warn("clock", text, { advice: "Let the time of both be set by NTP." })
    : ok("clock", text);
}

export const sizeOf = (file: string): string =>
  bytes(
    [file, `${file}-wal`].reduce(
      (sum, one) => sum + (statSync(one, { throwIfNoEntry: false })?.size ?? 0),
      0,
    ),
  );

/** The number of newest runs to check completely. */
const SAMPLE = 20;

/** A quick check; `holdfast verify` checks everything. */
export async function checkDamage(engine: Engine): Promise<Check> {
  const { ok: isSound, runs, damaged, store } = await engine.reports.verify({ limit: SAMPLE });
  const [problem] = [...store, ...damaged.map(({ runId, problems }) => `${runId}: ${problems[0]?.problem}`)];
  if (isSound) return ok("integrity", `the newest ${plural(runs, "run")} as written`);
  return bad("integrity", problem ?? "the store is damaged", { command: "verify" });
}

/** Runs without a worker, and runs that wait for a person. */
export async function checkRuns(store: Store): Promise<Check[]> {
  const now = await store.now();
  const [stalled, needing]: [RunRow[], RunRow[]] = [[], []];
  let open = 0;
  for await (const row of unended(store)) {
    open++;
    if (stalledSince(row, now) !== null) stalled.push(row);
    else if (standingOf(row, now).needsYou) needing.push(row);
  }
  const [one] = stalled;
  return [
    one
      ? warn(
          "interrupted",
          `${plural(stalled.length, "run")} could continue, but no process works on ${stalled.length === 1 ? "it" : "them"}`,
          {
            command: stalled.length === 1 ? `resume ${one.id}` : "resume --all",
          },
        )
      : ok("interrupted", `no run is interrupted (${count(open)} not ended)`),
    ...(needing.length > 0
      ? [
          warn("waiting", `${plural(needing.length, "run")} ${needing.length === 1 ? "needs" : "need"} you`, {
            command: "list --needs-me",
          }),
        ]
      : []),
  ];
}

const unended = (store: Store): AsyncGenerator<RunRow> =>
  everyRun(store, { status: ["queued", "running", "waiting", "failed"], pruned: false });
