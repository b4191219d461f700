import type { Client } from "../../src/client/index.ts";

/** Runs of the sample's workflows, by id. Their worker dies once, in the middle of a mail. */
const RUNS: readonly {
  readonly id: string;
  readonly workflow: string;
  readonly input: unknown;
  readonly labels?: Record<string, string>;
}[] = [
  { id: "payments-41", workflow: "reconcile-payments", input: { batch: "41" }, labels: { team: "billing" } },
  { id: "payments-42", workflow: "reconcile-payments", input: { batch: "42" }, labels: { team: "billing" } },
  { id: "payments-43", workflow: "reconcile-payments", input: { batch: "43" }, labels: { team: "billing" } },
  { id: "tides", workflow: "research", input: { topic: "tides" } },
  { id: "comets", workflow: "research", input: { topic: "comets", isDown: true } },
  { id: "glaciers", workflow: "research", input: { topic: "glaciers", isDown: true } },
  {
    id: "complaint-7",
    workflow: "complaint",
    input: { letter: "My lamp is broken." },
    labels: { team: "support" },
  },
  { id: "essay", workflow: "refine", input: { turns: 12 } },
  { id: "report-2026-11-15", workflow: "nightly-report", input: {}, labels: { team: "data" } },
  { id: "aapl", workflow: "stock-team", input: { stock_ticker: "AAPL" }, labels: { team: "research" } },
  { id: "invite-ada", workflow: "invite", input: { to: "Ada" } },
];

/** Starts the runs, a schedule, a queue and a rate limit through the API. */
export async function startSample(client: Client): Promise<void> {
  await client.setQueue({ name: "mail", concurrency: 2, perKey: 1 });
  await client.setRateLimit({ name: "claude", limit: { calls: 100, periodMs: 60_000 } });
  await client.createSchedule({
    name: "nightly-report",
    workflow: "nightly-report",
    options: { cron: "30 2 * * *", timezone: "Europe/Berlin", input: {} },
  });
  for (const run of RUNS) await client.startRun(run);
}

/** Answers the gates of all payments but the last. */
export async function answerSample(client: Client): Promise<void> {
  for (const run of ["payments-41", "payments-42"])
    await client.answerGate({
      run,
      gate: "approve",
      choice: "pay",
      reason: "Checked against the delivery notes",
    });
}
