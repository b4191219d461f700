import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { answerSample, startSample } from "../../lab/sample/fill.ts";
import { type AnswerOf, type Client, createClient } from "../../src/client/index.ts";
import { ROOT } from "../source-tree.ts";
import { type Stage, said } from "./stage.ts";

/** Workflows in every state that a page can show. */
export const SAMPLE_FILES = { "flows.mjs": readFileSync(path.join(ROOT, "lab/sample/flows.mjs"), "utf8") };

/** A client of the stage's server. */
export const clientOf = async (stage: Stage, role = "admin"): Promise<Client> =>
  createClient({ url: stage.url, token: await stage.token(role) });

type Standing = AnswerOf<"getRun">;

/** Waits until a run stands so, by listening to what happens in it. */
export async function until(
  client: Client,
  run: string,
  holds: (standing: Standing) => boolean,
): Promise<Standing> {
  const abort = new AbortController();
  try {
    // From the first event on, so that none can fall between looking and listening.
    for await (const _ of client.streamEvents({ run: [run], after: 0 }, { signal: abort.signal })) {
      const standing = await client.getRun({ run });
      if (holds(standing)) return standing;
    }
    throw new Error(`the stream of ${run} has ended`);
  } finally {
    abort.abort();
  }
}

/** Fills the stage's store: workers do all of it, and one of them dies in the middle of a mail. */
export async function playSample(
  stage: Stage,
): Promise<{ readonly client: Client; readonly worker: ChildProcess }> {
  const client = await clientOf(stage);
  const first = stage.start(["worker", "flows.mjs"]);
  await said(first, /●/);
  const died = once(first, "exit");
  await startSample(client);
  await died;
  const worker = stage.start(["worker", "flows.mjs"]);
  for (const run of ["payments-41", "payments-42", "payments-43"])
    await until(client, run, ({ run: { status } }) => status === "waiting");
  await answerSample(client);
  for (const run of [
    "payments-41",
    "payments-42",
    "tides",
    "complaint-7",
    "essay",
    "report-2026-11-15",
    "aapl",
  ])
    await until(client, run, ({ run: { status } }) => status === "completed");
  for (const run of ["comets", "glaciers"]) await until(client, run, ({ word }) => word.startsWith("failed"));
  await until(client, "invite-ada", ({ run: { status } }) => status === "waiting");
  return { client, worker };
}
