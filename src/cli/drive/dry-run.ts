import type { PolicyRequest } from "../../core/guards/policy.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import type { CommandContext } from "../context.ts";
import { columns } from "../format.ts";
import type { Outcome } from "../outcome.ts";
import type { Code } from "../workflows.ts";

/** Runs the workflow's function in memory up to the first calls, without making any. */
export async function dryRun(context: CommandContext<unknown>, code: Code, input: unknown): Promise<Outcome> {
  const { workflow } = code;
  const asked: PolicyRequest[] = [];
  const store = createMemoryStore();
  const engine = await context.engine({
    store,
    execute: true,
    workflows: code.all,
    policy: {
      version: "dry-run",
      decide(request) {
        asked.push(request);
        return { deny: "This is a dry run." };
      },
    },
  });
  const { id } = await engine.start(workflow, input ?? {});
  const run = await engine.settled(id);
  const steps = asked.map(({ step, effect }) => ({ step, effect }));
  const waits = run.waiting.filter(({ kind }) => kind !== "policy").map(({ kind, step }) => ({ kind, step }));
  const rows = [
    ["workflow", `${workflow.name} version ${workflow.version}`],
    ["input", JSON.stringify(input ?? {})],
    ...steps.map(({ step, effect }) => ["run", `${step}   ${context.out.paint.dim(effect)}`]),
    ...waits.map(({ kind, step }) => ["wait", `${step}   ${context.out.paint.dim(kind)}`]),
    ...(run.status === "failed" ? [["fails", run.error ?? ""]] : []),
    ...(run.status === "completed" ? [["then", "completes without a step"]] : []),
  ];
  return {
    data: {
      workflow: workflow.name,
      version: workflow.version,
      input: input ?? {},
      steps,
      waits,
      status: run.status,
    },
    text: `${columns(rows.map(([label = "", text = ""]) => [context.out.paint.dim(label), text])).join("\n")}\n${context.out.paint.dim("nothing was started or saved; later steps are known only when these have run")}`,
    next: [`run ${context.args.join(" ")}`],
  };
}
