import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { parseEntry } from "../../core/journal/journal.ts";
import type { PhaseCheckpointRow } from "../../core/records.ts";
import { decode } from "../../core/values/codec.ts";
import type { Workflow } from "../../index.ts";
import { checkCheckpointJson } from "../../manage.ts";
import {
  type Agent,
  defineAgent,
  defineTeam,
  type PhaseContext,
  resumeFromPhase,
  type SpecialistInput,
  type SubtaskCall,
} from "../index.ts";

type Work = (call: SubtaskCall<SpecialistInput>, subtask: string) => unknown;

const specialist = (type: string, work: Work, names: readonly string[] = ["gather", "write"]) =>
  defineAgent<SpecialistInput>({
    type,
    version: "1.0",
    subtasks: names.map((name) => ({
      name,
      deliverable: name,
      target: "files",
      retry: false as const,
      run: (call: SubtaskCall<SpecialistInput>) => work(call, name),
    })),
  }) as Agent<SpecialistInput>;

const asWorkflow = (team: unknown) => team as Workflow<never, unknown>;

interface Marked {
  readonly label: string;
  readonly trigger: string;
  readonly row: PhaseCheckpointRow;
}

/** The phase checkpoints of run r, in order. */
async function checkpoints(lab: Lab, run = "r"): Promise<Marked[]> {
  const entries = await lab.store.entries(run, { from: 1, limit: 1_000 });
  const found: Marked[] = [];
  for (const entry of entries) {
    const { events } = parseEntry(run, entry);
    for (const event of events) {
      if (event.kind !== "checkpoint_marked" || event.meta.record === undefined) continue;
      const { data } = event;
      const text = typeof data === "object" ? (await lab.store.blobs(run, [data.blob])).get(data.blob) : data;
      const row = decode(text ?? "null") as PhaseCheckpointRow;
      found.push({ ...event.meta, row });
    }
  }
  return found;
}

async function finished(lab: Lab, team: ReturnType<typeof defineTeam>, input: unknown = { task: "t" }) {
  const engine = lab.engine([asWorkflow(team)]);
  await lab.drive(engine.start(asWorkflow(team), input as never, { id: "r" }));
  return { engine, result: await lab.drive(engine.result("r")) };
}

describe("a team with phases", () => {
  it("goes from orchestrator to specialists to evaluator, with a checkpoint for each trigger (S4-10, S4-16)", async () => {
    const lab = createLab();
    const team = defineTeam({
      name: "atlas-team",
      phases: [
        {
          name: "research",
          orchestrator: {
            name: "atlas",
            run: async (phase) => {
              const plan = await phase.step("plan", () => ["a", "b"]);
              phase.recordDecision({
                description: "Allocated sub-task to specialist",
                rationale: "Task complexity requires parallel processing",
                confidence: 0.88,
              });
              phase.updateAgentState("mercury_1", "launched");
              await phase.createCheckpoint({ phase: phase.phase, type: "phase_start" });
              await phase.createCheckpoint({ type: "before_risky_operation" });
              expect(phase.loadLatest()).toMatchObject({ phase: 1, trigger: "before_risky_operation" });
              return plan;
            },
          },
          specialists: [
            specialist("mercury_1", ({ report, input }, name) => {
              report({ confidence: 0.9, output_ref: `phase1/${name}.md` });
              return { name, plan: input.plan };
            }),
          ],
          evaluator: { name: "apollo", criteria: [{ name: "accuracy", score: () => 0.8 }] },
        },
        { name: "report", specialists: [specialist("mercury_2", ({ input }) => input.outputs)] },
      ],
    });
    const { result } = await finished(lab, team);
    expect(result).toMatchObject({
      status: "completed",
      results: {
        research: { mercury_1: { gather: { name: "gather", plan: ["a", "b"] } } },
        report: { mercury_2: { gather: { research: { mercury_1: { write: { name: "write" } } } } } },
      },
      evaluations: { research: [{ score: 0.8, passed: true }] },
    });
    const found = await checkpoints(lab);
    expect(found.map(({ label, trigger }) => `${trigger}: ${label}`)).toEqual([
      "phase_started: phase 1 started",
      "phase_started: research phase_start",
      "before_risky_operation: research before_risky_operation",
      "specialist_finished: mercury_1 finished",
      "evaluation_completed: research evaluated",
      "phase_completed: research completed",
      "phase_started: phase 2 started",
      "specialist_finished: mercury_2 finished",
      "phase_completed: report completed",
      "phase_completed: completed",
    ]);
    for (const { row } of found) expect(checkCheckpointJson(row)).toEqual([]);
  });

  it("writes the document's JSON into each checkpoint, and ends with one that is not resumable (S4-02, S4-03, S4-12, S4-15)", async () => {
    const lab = createLab();
    const team = defineTeam({
      name: "atlas-team",
      phases: [
        {
          name: "research",
          orchestrator: {
            name: "atlas",
            run: (phase) => phase.recordDecision({ description: "go", type: "workflow_adjustment" }),
          },
          specialists: [
            specialist("mercury_1", ({ report, memory, usage }, name) => {
              memory.set("seen", name);
              usage({ tokens: 100 });
              report({ confidence: 0.87, blockers: ["no data"], output_ref: `phase1/${name}.md` });
              return { name };
            }),
          ],
        },
      ],
    });
    await finished(lab, team);
    const rows = (await checkpoints(lab)).map(({ row }) => row);
    const last = rows.at(-1);
    expect(last).toMatchObject({
      version: "1.0",
      workflow_id: "r",
      phase: 1,
      status: "completed",
      resumable: false,
      agents: {
        atlas: { agent_type: "orchestrator", status: "completed", last_decision: "workflow_adjustment" },
        mercury_1: {
          agent_type: "specialist",
          status: "completed",
          confidence: 0.87,
          blockers: ["no data"],
          output_ref: "phase1/write.md",
        },
      },
      decisions: [{ agent: "atlas", type: "workflow_adjustment", description: "go" }],
      outputs: [{ agent: "mercury_1", subtask: "gather", ref: "phase1/gather.md" }, { subtask: "write" }],
      metrics: { api_calls: 2, tokens_used: 200 },
      confidence: { overall: 0.87, threshold: 0.75, agents: { mercury_1: 0.87 } },
    });
    expect(last?.metrics).toMatchObject({ memory_peak: expect.any(Number) as number });
    expect(last?.checkpoint_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(rows.map(({ checkpoint_id }) => checkpoint_id)).size).toBe(rows.length);
    const mercury = last?.agents["mercury_1"] as { state: string } | undefined;
    expect(decode(atob(mercury?.state ?? ""))).toMatchObject({
      completed_subtasks: ["gather", "write"],
      working_memory: { seen: "write" },
      confidence_history: [
        { subtask: "gather", confidence: 0.87 },
        { subtask: "write", confidence: 0.87 },
      ],
    });
    expect(rows[0]).toMatchObject({ status: "in_progress", resumable: true });
  });

  it("spawns another specialist when confidence is below the threshold, and records why (S4-04, S4-10)", async () => {
    const lab = createLab();
    const team = defineTeam({
      name: "atlas-team",
      phases: [
        {
          name: "research",
          orchestrator: { name: "atlas" },
          specialists: [
            specialist("mercury_1", ({ report }) => (report({ confidence: 0.73 }), 1)),
            specialist("mercury_2", ({ report }) => (report({ confidence: 0.9 }), 1)),
          ],
          additional: () => specialist("mercury_3", ({ report }) => (report({ confidence: 0.8 }), "more")),
        },
      ],
    });
    const { result } = await finished(lab, team);
    expect(result).toMatchObject({
      results: { research: { mercury_3: { gather: "more" } } },
      decisions: [
        {
          agent: "atlas",
          type: "spawn_additional_specialist",
          description: "Spawned additional specialist due to low confidence",
          rationale: "mercury_1 confidence (0.73) below threshold (0.75)",
          alternatives_considered: ["request_human_review", "proceed_with_low_confidence"],
        },
      ],
    });
    const labels = (await checkpoints(lab)).map(({ label }) => label);
    expect(labels).toContain("mercury_1 below 0.75");
    expect(labels).toContain("mercury_1 low confidence");
  });

  it("restarts a failed specialist at its last milestone, and records the failure first (S4-14, S4-17)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    let left = 1;
    const team = defineTeam({
      name: "atlas-team",
      phases: [
        {
          name: "research",
          specialists: [
            specialist("mercury_1", ({ report }, name) => {
              calls.push(name);
              if (name === "write" && left-- > 0) throw Object.assign(new Error("down"), { status: 503 });
              report({ confidence: 0.9 });
              return name;
            }),
          ],
        },
      ],
    });
    const { result } = await finished(lab, team);
    expect(calls).toEqual(["gather", "write", "write"]);
    expect(result).toMatchObject({ decisions: [{ agent: "mercury_1", type: "restart_specialist" }] });
    const failed = (await checkpoints(lab)).find(({ trigger }) => trigger === "error_encountered");
    expect(failed?.row.error).toMatchObject({
      agent: "mercury_1",
      subtask: "write",
      attempt: 1,
      status: 503,
    });
  });

  it("rolls a specialist back with lower confidence when no restart helps, and goes on with the others (S4-14)", async () => {
    const lab = createLab();
    const team = defineTeam({
      name: "atlas-team",
      phases: [
        {
          name: "research",
          specialists: [
            specialist("mercury_1", ({ report }, name) => {
              if (name === "write") throw new Error("never");
              report({ confidence: 0.9 });
              return name;
            }),
            specialist("mercury_2", () => "fine"),
          ],
        },
      ],
    });
    const { result } = await finished(lab, team);
    expect(result).toMatchObject({
      results: { research: { mercury_1: {}, mercury_2: { gather: "fine" } } },
      confidence: { agents: { mercury_1: 0.72 } },
    });
    const { decisions } = result as { decisions: { type: string; confidence: number | null }[] };
    expect(decisions.map(({ type }) => type)).toEqual([
      "restart_specialist",
      "rollback",
      "proceed_with_low_confidence",
    ]);
    const last = (await checkpoints(lab)).at(-1)?.row;
    expect(last?.agents["mercury_1"]).toMatchObject({ status: "rolled_back", confidence: 0.72 });
    expect(last?.outputs).toMatchObject([{ agent: "mercury_2" }, { agent: "mercury_2" }]);
  });

  it("sends a phase back with feedback, and keeps the history of evaluations across a crash (S4-18)", async () => {
    const lab = createLab();
    const scores: string[] = [];
    const team = defineTeam({
      name: "atlas-team",
      phases: [
        {
          name: "research",
          specialists: [specialist("mercury_1", ({ input }) => ({ feedback: input.feedback }), ["gather"])],
          evaluator: {
            name: "apollo",
            passScore: 0.7,
            criteria: [
              {
                name: "accuracy",
                score: ({ iteration }) => {
                  scores.push(`accuracy ${iteration}`);
                  return { score: iteration === 0 ? 0.4 : 0.9, issues: iteration === 0 ? ["too short"] : [] };
                },
              },
              {
                name: "style",
                weight: 3,
                score: ({ iteration, attempt, history }) => {
                  scores.push(`style ${iteration} after ${history.length}`);
                  return iteration === 1 && attempt === 1 ? hangs() : 0.6 + 0.2 * iteration;
                },
              },
            ],
          },
        },
      ],
    });
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(asWorkflow(team), { task: "t" } as never, { id: "r" }));
    await lab.clock.advance(2_000);
    const after = await lab.afterCrash(engine, [asWorkflow(team)], "r");
    expect(after.run.status).toBe("completed");
    expect(await lab.drive(after.engine.result("r"))).toMatchObject({
      results: { research: { mercury_1: { gather: { feedback: "too short" } } } },
      evaluations: {
        research: [
          { iteration: 0, score: 0.55, passed: false, issues: ["too short"], feedback: "too short" },
          { iteration: 1, score: 0.825, scores: { accuracy: 0.9, style: 0.8 }, passed: true },
        ],
      },
    });
    // The partial score before the crash was kept.
    expect(scores).toEqual([
      "accuracy 0",
      "style 0 after 0",
      "accuracy 1",
      "style 1 after 1",
      "style 1 after 1",
    ]);
  });

  it("saves no checkpoint for a trigger that is switched off (S4-10)", async () => {
    const lab = createLab();
    const team = defineTeam({
      name: "atlas-team",
      triggers: { specialist_finished: false, phase_completed: false },
      phases: [{ name: "research", specialists: [specialist("mercury_1", () => 1)] }],
    });
    await finished(lab, team);
    expect((await checkpoints(lab)).map(({ label }) => label)).toEqual(["phase 1 started"]);
  });

  it("gives every specialist another chance when a phase that has failed is resumed (S4-14)", async () => {
    const lab = createLab();
    let isDown = true;
    const work: Work = () => {
      if (isDown) throw new Error("down");
      return "up";
    };
    const team = defineTeam({
      name: "atlas-team",
      phases: [{ name: "research", specialists: [specialist("mercury_1", work), specialist("m2", work)] }],
    });
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(asWorkflow(team), {} as never, { id: "r" }));
    const run = await lab.drive(engine.settled("r"));
    expect(run).toMatchObject({ status: "failed" });
    const reasons = "(mercury_1: Error: down, m2: Error: down)";
    expect(run.error).toContain(`none of its specialists has completed ${reasons}`);
    isDown = false;
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toMatchObject({
      results: { research: { mercury_1: { gather: "up" } } },
    });
  });
});

describe("a phase", () => {
  const one = (calls: string[]) =>
    defineTeam({
      name: "atlas-team",
      phases: ["research", "report"].map((name, index) => ({
        name,
        orchestrator: {
          name: "atlas",
          run: async (phase: PhaseContext) => {
            await phase.createCheckpoint({ type: "debug_breakpoint" });
            await phase.createCheckpoint({ type: "user_requested" });
          },
        },
        specialists: [
          specialist(`mercury_${index + 1}`, ({ input }, subtask) => {
            calls.push(`${name} ${subtask}`);
            return { subtask, before: Object.keys(input.outputs) };
          }),
        ],
      })),
    });

  it("is gone back to with everything that the phases before it have produced (S4-01, S4-16)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const team = one(calls);
    const { engine, result } = await finished(lab, team);
    calls.length = 0;
    const fork = await lab.drive(resumeFromPhase(engine, team, "r", "report", { id: "again" }));
    expect(await lab.drive(engine.result(fork.id))).toMatchObject({
      results: (result as { results: unknown }).results,
    });
    expect(calls).toEqual(["report gather", "report write"]);
    await expect(resumeFromPhase(engine, team, "r", 3)).rejects.toMatchObject({ code: "HF-4531" });
    await expect(resumeFromPhase(engine, team, "r", "nothing")).rejects.toThrow("1 (research), 2 (report)");
  });

  it("is gone back to when only the newest checkpoints of each phase are left (S4-07, S4-16)", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const team = one(calls);
    const engine = lab.engine([asWorkflow(team)], { retention: { keepPerPhase: 2 } });
    await lab.drive(engine.start(asWorkflow(team), { task: "t" } as never, { id: "r" }));
    const result = (await lab.drive(engine.result("r"))) as { results: unknown };
    await expect(engine.checkpoints.show("r@phase 2 started")).rejects.toMatchObject({ code: "HF-1023" });
    calls.length = 0;
    const fork = await lab.drive(resumeFromPhase(engine, team, "r", "report", { id: "again" }));
    expect(await lab.drive(engine.result(fork.id))).toMatchObject({ results: result.results });
    expect(calls).toEqual(["report gather", "report write"]);
    await expect(resumeFromPhase(engine, team, "r", 1)).rejects.toMatchObject({ code: "HF-1023" });
  });

  it("says when a run has no checkpoint of it", async () => {
    const lab = createLab();
    const team = defineTeam({
      name: "atlas-team",
      phases: ["research", "report"].map((name) => ({ name, specialists: [specialist(`${name}er`, hangs)] })),
    });
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(asWorkflow(team), {} as never, { id: "r" }));
    await lab.clock.advance(1_000);
    await expect(resumeFromPhase(engine, team, "r", 2)).rejects.toMatchObject({ code: "HF-4532" });
  });

  it("takes checkpoints by hand: user_requested, debug_breakpoint (S4-11)", async () => {
    const lab = createLab();
    await finished(lab, one([]));
    const triggers = (await checkpoints(lab)).map(({ trigger }) => trigger);
    expect(triggers.filter((trigger) => trigger === "debug_breakpoint")).toHaveLength(2);
    expect(triggers.filter((trigger) => trigger === "user_requested")).toHaveLength(2);
  });

  it("asks a person about low confidence, and stops if told so (S4-14)", async () => {
    const lab = createLab();
    const team = defineTeam({
      name: "atlas-team",
      phases: [
        {
          name: "research",
          onLowConfidence: () => Promise.resolve("request_human_review" as const),
          specialists: [
            specialist("mercury_1", ({ report }) => (report({ confidence: 0.2, blockers: ["no data"] }), 1)),
          ],
        },
      ],
    });
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(asWorkflow(team), {} as never, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const [gate] = await engine.gates("r");
    expect(gate?.show).toMatchObject({ agent: "mercury_1", confidence: 0.2, blockers: ["no data"] });
    await lab.drive(engine.answer("r", gate?.gate ?? "", { choice: "stop", actor: "Ada", text: "Too thin" }));
    const run = await lab.drive(engine.settled("r"));
    expect(run.error).toContain("Phase research can't continue: Ada stopped it");
  });

  it("computes a score again only when the result it is about was edited (S4-18)", async () => {
    const lab = createLab();
    const scored: unknown[] = [];
    const team = defineTeam({
      name: "atlas-team",
      phases: [
        {
          name: "research",
          specialists: [specialist("mercury_1", () => "draft", ["write"])],
          evaluator: {
            name: "apollo",
            criteria: [
              {
                name: "accuracy",
                score: ({ results }) => (scored.push(results["mercury_1"]?.["write"]), 0.5),
              },
              { name: "style", score: ({ attempt }) => (attempt === 1 ? hangs() : 0.7) },
            ],
          },
        },
      ],
    });
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(asWorkflow(team), {} as never, { id: "r" }));
    await lab.clock.advance(2_000);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([asWorkflow(team)], { execute: false });
    await lab.drive(next.pause("r"));
    const [loop] = Object.keys((await next.checkpoints.show("r")).loops).filter((key) =>
      key.includes("mercury"),
    );
    const state = (await next.checkpoints.show("r")).loops[loop ?? ""] as { results: object };
    const edited = { ...state, results: { write: "corrected" } };
    await lab.drive(next.resume("r", { set: { loops: { [loop ?? ""]: edited } } }));
    const last = lab.engine([asWorkflow(team)]);
    await lab.drive(last.recover());
    expect(await lab.drive(last.result("r"))).toMatchObject({ evaluations: { research: [{ score: 0.6 }] } });
    expect(scored).toEqual(["draft", "corrected"]);
  });

  it("takes the configuration blocks as the document writes them, and says what has no effect (S4-19, S4-20, S4-21)", () => {
    const { settings } = defineTeam({
      name: "atlas-team",
      phases: [{ name: "research", specialists: [specialist("mercury_1", () => 1)] }],
      checkpoint_config: {
        enabled: true,
        storage_path: "./outputs/{TASK}/checkpoints",
        compression: true,
        encryption: true,
        retention_days: 30,
        max_checkpoints_per_phase: 5,
        checkpoint_size_limit_mb: 100,
      },
      recovery_config: {
        auto_recovery: true,
        max_recovery_attempts: 3,
        recovery_timeout_seconds: 300,
        fallback_to_previous: true,
      },
      performance_config: {
        async_writes: true,
        batch_decisions: true,
        compression_level: 6,
        memory_mapped_threshold_mb: 10,
      },
    });
    expect(settings).toMatchObject({
      saving: true,
      storage: "file",
      path: "./outputs/{TASK}/checkpoints",
      encryption: true,
      retention: { keepPerPhase: 5 },
      recovery: { maxAttempts: 3 },
      onSaveFailure: "continue",
      notes: [expect.stringContaining("memory_mapped_threshold_mb")],
    });
  });
});
