import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createApiStage } from "../../test/support/api.ts";
import { hangs } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";
import { allOperations } from "./contract/operations.ts";

const slow = workflow("slow", async (ctx) => {
  await ctx.step("first", () => 1);
  await ctx.step("second", hangs);
});

const flow = workflow("flow", async (ctx, input: { amount: number }) => {
  ctx.memory.set("amount", input.amount);
  await ctx.step("load", () => ({ card: "4111" }));
  await ctx.step("check", () => "4111");
  const { choice } = await ctx.gate("approve", { show: { amount: input.amount }, choices: ["yes", "no"] });
  return choice;
});

let isUp = false;
const flaky = workflow("flaky", async (ctx) => {
  await ctx.step("load", () => 1);
  await ctx.step("pay", () => (isUp ? "paid" : Promise.reject(new Error("HTTP 500 at 10.0.0.7"))), {
    retry: false,
  });
});

async function atGate() {
  const stage = createApiStage([flow]);
  const { id } = await stage.client.startRun({ workflow: "flow", input: { amount: 7 }, id: "r" });
  await stage.lab.drive(stage.engine.settled(id));
  return stage;
}

const hasReason = (shape: unknown): boolean =>
  shape instanceof z.ZodObject && Object.keys(shape.shape).some((name) => name === "reason");

const codeOf = async (response: Response): Promise<unknown> => {
  const problem: unknown = await response.json();
  return typeof problem === "object" && problem !== null && "code" in problem ? problem.code : undefined;
};

describe("acts through the API", () => {
  it("starts a run, shows its gate, answers it, and the run goes on (S1-31)", async () => {
    const { lab, engine, client, as } = await atGate();
    expect((await client.listGates()).gates).toMatchObject([
      { runId: "r", gate: "approve", choices: ["yes", "no"] },
    ]);
    const gate = await client.getGate({ run: "r", gate: "approve" });
    expect(gate.show).toEqual({ amount: 7 });
    await expect(as("vic", "runs:read").getGate({ run: "r", gate: "approve" })).rejects.toMatchObject({
      status: 403,
    });
    const answer = { run: "r", gate: "approve", choice: "yes", digest: gate.digest, reason: "looks right" };
    expect(await as("maria", "gates:answer").answerGate(answer)).toMatchObject({
      choice: "yes",
      actor: "maria",
    });
    expect(await lab.drive(engine.result("r"))).toBe("yes");
    await expect(client.answerGate(answer)).rejects.toMatchObject({ code: "HF-1014", status: 409 });
  });

  it("takes a reason for everything that changes something, a start included (S1-31, S1-55)", async () => {
    const { client, engine } = createApiStage([slow]);
    await client.startRun({ workflow: "slow", id: "r", reason: "the nightly one failed" });
    const [created] = (await engine.reports.trail("r")).lines;
    expect(created).toMatchObject({ kind: "run_created", reason: "the nightly one failed" });
    // Plans and previews change nothing; a view is what somebody likes to see.
    const without = [
      "planResume",
      "planFork",
      "previewRetention",
      "previewSchedule",
      "verifyStore",
      "verifyAudit",
    ];
    const changes = allOperations.filter(({ id, method }) => method !== "GET" && !without.includes(id));
    const silent = changes.filter(({ body, query }) => !hasReason(body) && !hasReason(query));
    expect(silent.map(({ id }) => id)).toEqual(["putView", "deleteView"]);
  });

  it("resumes with the plan that was seen, and refuses another one (S1-31)", async () => {
    const { lab, engine, client } = createApiStage([flaky]);
    await client.startRun({ workflow: "flaky", id: "r" });
    await lab.drive(engine.settled("r"));
    expect((await client.listErrors()).groups).toMatchObject([
      { workflow: "flaky", count: 1, steps: ["pay"], shape: expect.stringContaining("HTTP … at …") },
    ]);
    const { plan, token } = await client.planResume({ run: "r" });
    expect(plan).toMatchObject({ reuse: { steps: 1 }, runs: [{ step: "pay" }], blocked: null });
    const other = { run: "r", plan: token, set: { memory: { a: 1 } } };
    await expect(client.resumeRun(other)).rejects.toMatchObject({ code: "HF-6013" });
    await lab.drive(engine.checkpoints.mark("r", "moved"));
    await expect(client.resumeRun({ run: "r", plan: token })).rejects.toMatchObject({
      code: "HF-6007",
      status: 412,
    });
    isUp = true;
    const again = await client.planResume({ run: "r" });
    await client.resumeRun({ run: "r", plan: again.token, reason: "it is up again" });
    expect((await lab.drive(engine.settled("r"))).status).toBe("completed");
    isUp = false;
  });

  it("retries a failed step under its own name (S1-30)", async () => {
    const { lab, engine, client } = createApiStage([flaky]);
    await client.startRun({ workflow: "flaky", id: "r" });
    await lab.drive(engine.settled("r"));
    await expect(client.retryStep({ run: "r", step: "load" })).rejects.toMatchObject({ code: "HF-1007" });
    await expect(client.retryStep({ run: "r", step: "no" })).rejects.toMatchObject({ status: 404 });
    isUp = true;
    const key = { idempotencyKey: "k1" };
    await client.retryStep({ run: "r", step: "pay" }, key);
    await lab.drive(engine.settled("r"));
    expect(await engine.get("r")).toMatchObject({ status: "completed" });
    isUp = false;
  });

  it("forks, pins, exports, imports, cancels and deletes", async () => {
    const { lab, client, engine } = await atGate();
    const { checkpoints } = await client.listCheckpoints({ run: "r" });
    const [newest] = checkpoints;
    expect(checkpoints.map(({ step }) => step)).toContain("load");
    expect(await client.planFork({ run: "r", at: "load" })).toMatchObject({
      from: { runId: "r" },
      effects: "reuse",
    });
    const fork = await client.forkRun({
      run: "r",
      at: "load",
      set: { memory: { amount: 8 } },
      reason: "try 8",
    });
    expect(fork.origin).toMatchObject({ runId: "r" });
    expect(await client.pinCheckpoint({ run: "r", at: String(newest?.seq) })).toEqual({
      checkpoint: newest?.id,
    });
    expect((await client.pinRun({ run: "r" })).pinned).toBe(true);
    const bundle = await client.exportRun({ run: "r", reason: "move" });
    const elsewhere = createApiStage([flow]);
    expect(await elsewhere.client.importRuns({ bundle })).toMatchObject({ imported: ["r"], review: ["r"] });
    await client.unpinRun({ run: "r" });
    await client.unpinCheckpoint({ run: "r", at: String(newest?.seq) });
    for (const run of ["r", fork.id]) await client.cancelRun({ run, reason: "done with it" });
    await lab.clock.advance(1_000);
    await client.deleteRun({ run: fork.id, reason: "a try" });
    await expect(client.getRun({ run: fork.id })).rejects.toMatchObject({ status: 404, code: "HF-1001" });
    expect(await engine.get("r")).toMatchObject({ status: "cancelled" });
  });

  it("acts on many runs, and says first which would be refused", async () => {
    const { lab, engine, client } = createApiStage([slow]);
    for (const id of ["a", "b"]) await lab.drive(engine.start(slow, undefined, { id }));
    const all = { runs: ["a", "b", "none"], act: "pause", reason: "deploy" } as const;
    expect(await client.actOnRuns({ ...all, dryRun: true })).toMatchObject({
      done: ["a", "b"],
      refused: [{ run: "none", code: "HF-1001" }],
    });
    expect(await engine.get("a")).toMatchObject({ control: "none" });
    expect(await client.actOnRuns({ ...all, act: "resume", dryRun: true })).toMatchObject({
      done: [],
      refused: [{ run: "a", code: "HF-1007" }, { run: "b" }, { run: "none" }],
    });
    await client.actOnRuns(all);
    expect(await engine.get("b")).toMatchObject({ control: "pausing" });
  });
});

describe("an act that is sent twice", () => {
  it("counts once and gets the same answer (S1-31)", async () => {
    const { lab, engine, send } = createApiStage([slow]);
    await lab.drive(engine.start(slow, undefined, { id: "r" }));
    const pause = () =>
      send("POST", "/v1/runs/r/pause", { body: { reason: "lunch" }, headers: { "idempotency-key": "k" } });
    const first = await pause();
    const again = await pause();
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.text()).toBe(await first.text());
    const { lines } = await engine.reports.trail("r");
    expect(lines.filter(({ kind }) => kind === "pause_requested" || kind === "act_noted")).toHaveLength(1);
  });

  it("is refused with another body under the same key, and runs again when it was refused before", async () => {
    const { lab, engine, send } = createApiStage([slow]);
    const headers = { "idempotency-key": "k" };
    expect((await send("POST", "/v1/runs/r/pause", { body: {}, headers })).status).toBe(404);
    await lab.drive(engine.start(slow, undefined, { id: "r" }));
    expect((await send("POST", "/v1/runs/r/pause", { body: {}, headers })).status).toBe(200);
    const other = await send("POST", "/v1/runs/r/pause", { body: { reason: "x" }, headers });
    expect([other.status, await codeOf(other)]).toEqual([422, "HF-6008"]);
    const bad = await send("POST", "/v1/runs/r/pause", { body: {}, headers: { "idempotency-key": "a b" } });
    expect([bad.status, await codeOf(bad)]).toEqual([400, "HF-6010"]);
  });

  it("counts once although the process died before it kept the answer", async () => {
    const { lab, engine, send } = createApiStage([slow]);
    await lab.drive(engine.start(slow, undefined, { id: "r" }));
    const pause = () => send("POST", "/v1/runs/r/pause", { body: {}, headers: { "idempotency-key": "k" } });
    expect((await pause()).status).toBe(200);
    // As a crash leaves it: begun, and no answer.
    const [kept] = (await lab.store.documents?.list("request", { limit: 1 })) ?? [];
    if (!kept) throw new Error("nothing was kept");
    const { answer: _, ...begun } = JSON.parse(kept.value);
    const put = { version: "crashed", value: JSON.stringify(begun) };
    await lab.store.documents?.write([{ kind: kept.kind, key: kept.key, expect: kept.version, put }]);
    expect((await pause()).status).toBe(409);
    await lab.clock.advance(40_000);
    expect((await pause()).status).toBe(200);
    const { lines } = await engine.reports.trail("r");
    expect(lines.filter(({ kind }) => kind === "pause_requested")).toHaveLength(1);
  });
});

describe("an act on a run that has moved on", () => {
  it("is refused, and says what happened meanwhile (S1-31)", async () => {
    const { lab, engine, client } = createApiStage([slow]);
    await lab.drive(engine.start(slow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    const { run } = await client.getRun({ run: "r" });
    await lab.drive(engine.inject("r", "look", { actor: "maria" }));
    const late = client.pauseRun({ run: "r" }, { seen: run.seq });
    await expect(late).rejects.toMatchObject({ status: 412, code: "HF-6007" });
    await expect(late).rejects.toMatchObject({ problem: { why: expect.stringContaining("by maria") } });
    const { run: now } = await client.getRun({ run: "r" });
    await client.pauseRun({ run: "r" }, { seen: now.seq });
    expect(await engine.get("r")).toMatchObject({ control: "pausing" });
  });
});

describe("values through the API", () => {
  it("are read only with the permission and a reason, and the reading is recorded (S1-48, S4-25)", async () => {
    const { engine, client, as, send } = await atGate();
    const viewer = as("vic", "runs:read");
    const auditor = as("olga", "runs:read", "state:read");
    for (const path of ["", "/outline", "/events", "/checkpoints", "/checkpoints/load", "/cost"])
      expect(await (await send("GET", `/v1/runs/r${path}`)).text()).not.toContain("4111");
    await expect(viewer.readState({ run: "r", at: "load", reason: "?" })).rejects.toMatchObject({
      status: 403,
    });
    const bare = await send("POST", "/v1/runs/r/checkpoints/load/state", { body: {} });
    expect(bare.status).toBe(400);
    const state = await auditor.readState({ run: "r", at: "load", reason: "ticket 7" });
    expect(state).toMatchObject({ input: { amount: 7 }, steps: { load: { card: "4111" } } });
    expect((await engine.reports.trail("r")).lines.at(-1)).toMatchObject({
      kind: "values_read",
      actor: "olga",
      reason: "ticket 7",
    });
    const diff = await viewer.diff({ from: "r@load", to: "r@check" });
    expect(diff).toMatchObject({ same: false, steps: { added: ["check"] } });
    expect(JSON.stringify(diff)).not.toContain("4111");
    expect(JSON.stringify(await client.readDiff({ from: "r@load", to: "r@check", reason: "why" }))).toContain(
      "4111",
    );
  });

  it("are compared up to the newest position, also when it is that of a reading (S1-48)", async () => {
    const { client } = await atGate();
    for (const reason of ["first look", "second look"])
      expect(await client.readDiff({ from: "r@load", to: "r@last", reason })).toMatchObject({
        values: { added: { check: "4111" } },
      });
  });

  it("are edited in the encoding in which they are read, and a key of memory can be taken away (HF-6080)", async () => {
    const { client, engine, lab } = await atGate();
    const set = { memory: { amount: { $: ["undefined"] }, due: { $: ["Date", 0] } } };
    expect((await client.planFork({ run: "r", at: "check", set })).edits).toEqual([
      { what: "memory", name: "amount" },
      { what: "memory", name: "due" },
    ]);
    await client.forkRun({ run: "r", at: "check", set, id: "f" });
    await lab.drive(engine.settled("f"));
    expect((await engine.checkpoints.state("f@last")).memory).toEqual({ due: new Date(0) });
    const wrong = client.forkRun({ run: "r", at: "check", set: { memory: { amount: { $: 1 } } } });
    await expect(wrong).rejects.toMatchObject({ status: 422, code: "HF-6080" });
  });
});
