import type { Checkpoint } from "../../../core/manage/checkpoints/checkpoint-view.ts";
import { checkpointToFlow } from "../../../core/manage/checkpoints/flow-format.ts";
import { defineCommand } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { count, fit, fitMiddle, oneLine, plural, spent, when, width } from "../../format.ts";
import { iso } from "../../view/run-rows.ts";
import { shownValue, summary } from "../../view/stored-values.ts";
import { roomOf } from "../../view/table.ts";

export const show = defineCommand({
  name: "show",
  summary: "Show everything known about a run at one position",
  args: ["<checkpoint>"],
  options: { reveal: { flag: "--reveal", summary: "Show values in full, neither shortened nor masked" } },
  examples: ["checkpoints show recon-88@14", "checkpoints show recon-88@last --reveal"],
  async run(context) {
    const { args, options } = context;
    const { address } = await (await context.addresses()).checkpoint(args[0] ?? "");
    const checkpoint = await (await context.engine()).checkpoints.show(address);
    const acts = [`fork ${checkpoint.id}`, `replay ${checkpoint.id}`, `checkpoints pin ${checkpoint.id}`];
    const now = await (await context.store()).now();
    return {
      data: dataOf(checkpoint, options.reveal),
      text: textOf(context, checkpoint, options.reveal, now, acts),
      next: acts,
    };
  },
});

const VALUES = ["input", "config", "memory", "loops", "steps", "result", "agents", "decisions"] as const;

/** The parts of Conductor's `CheckpointData` that hold what a run was given and gave. */
const FLOW_VALUES = new Set(["workflow_inputs", "agent_outputs", "context_snapshot"]);

function dataOf(checkpoint: Checkpoint, reveal: boolean): Record<string, unknown> {
  const data: Record<string, unknown> = { ...checkpoint, at: iso(checkpoint.at) };
  if (!reveal) for (const key of VALUES) if (key in data) data[key] = shownValue(data[key], false);
  const flow = checkpointToFlow(checkpoint);
  for (const [key, value] of Object.entries(flow))
    data[key] = FLOW_VALUES.has(key) ? shownValue(value, reveal) : value;
  data["gates"] = checkpoint.gates.map((gate) => ({ ...gate, show: shownValue(gate.show, reveal) }));
  return data;
}

function textOf(
  context: CommandContext<unknown>,
  checkpoint: Checkpoint,
  reveal: boolean,
  now: number,
  acts: readonly string[],
): string {
  const { out, host } = context;
  const { paint } = out;
  const { isTTY, columns } = host.stdout;
  const room = (isTTY ? columns : 160) - 16;
  const facts = factsOf(checkpoint, room, when(checkpoint.at, now, isTTY));
  const wide = roomOf(host);
  const { id, step } = checkpoint;
  const after = step === "" ? "" : `  after ${fitMiddle(oneLine(step), Math.max(12, wide - id.length - 8))}`;
  return [
    fitMiddle(`${paint.bold(id)}${after}`, wide),
    ...facts.map(
      ([label = "", fact = ""]) => `  ${paint.dim(label.padEnd(10))} ${fit(oneLine(fact), wide - 13)}`,
    ),
    "",
    paint.bold("State"),
    ...stateLines(checkpoint, reveal, room),
    "",
    paint.bold("You can"),
    ...acts.map((act) => `  ${context.cli(act)}`),
  ].join("\n");
}

/** The facts of a checkpoint, one labelled line each. */
function factsOf(checkpoint: Checkpoint, room: number, made: string): string[][] {
  const { progress, usage, failure, labels } = checkpoint;
  return [
    [
      "made",
      `${made} · ${checkpoint.trigger.replaceAll("_", " ")}${checkpoint.actor === undefined ? "" : ` by ${checkpoint.actor}`}`,
    ],
    [
      "run",
      `${fitMiddle(checkpoint.workflow, Math.max(12, room - 14))} ${checkpoint.version} · ${checkpoint.status}`,
    ],
    [
      "progress",
      `${progress.text}${checkpoint.pending.length > 0 ? `; planned: ${checkpoint.pending.slice(0, 5).join(", ")}` : ""}`,
    ],
    ["agents", agentsLine(checkpoint)],
    ["used", spent({ ms: usage.activeMs, tokens: usage.tokens, costUsd: usage.costUsd })],
    ["labels", [...labels, checkpoint.pinned ? "pinned" : ""].filter((label) => label !== "").join(", ")],
    ["failed", checkpoint.failed.join(", ")],
    [
      "failure",
      failure ? `${failure.step === "" ? "" : `${failure.step}: `}${summary(failure.message, room)}` : "",
    ],
    ["retries", checkpoint.retries > 0 ? count(checkpoint.retries) : ""],
    ["decisions", checkpoint.decisions.length > 0 ? plural(checkpoint.decisions.length, "decision") : ""],
    ["waits", checkpoint.waits.map(({ kind, step }) => `${kind} ${step}`).join(", ")],
    ["digest", checkpoint.digest],
    ["proof", checkpoint.head],
  ].filter(([, fact]) => fact !== "");
}

function agentsLine(checkpoint: Checkpoint): string {
  const { completed_agents: done, in_progress: open, iteration } = checkpointToFlow(checkpoint);
  if (done.length === 0 && open === null) return "";
  const parts = [
    done.length > 0 ? `done: ${done.join(", ")}` : "",
    open === null ? "" : `in progress: ${open}`,
  ];
  return `${parts.filter((part) => part !== "").join("; ")} (iteration ${iteration})`;
}

function stateLines(checkpoint: Checkpoint, reveal: boolean, room: number): string[] {
  const { input, config, memory, loops, steps } = checkpoint;
  if (reveal)
    return JSON.stringify({ input, config, memory, loops, steps }, null, 2)
      .split("\n")
      .map((line) => `  ${line}`);
  const { $holdfast: _, ...own } = config;
  const parts = { config: own, memory, loops, steps };
  const named = Object.entries(parts).flatMap(([part, values]) =>
    Object.entries(values as Record<string, unknown>).map(
      ([key, value]) => [`${part}.${key}`, value] as const,
    ),
  );
  const all = [["input", input] as const, ...named];
  const lines = all.slice(0, 30).map(([path, value]) => {
    const name = fitMiddle(oneLine(path), Math.max(20, Math.floor(room * 0.6)));
    return `  ${name}  ${summary(value, Math.max(12, room + 12 - width(name)))}`;
  });
  return all.length > 30 ? [...lines, `  … ${count(all.length - 30)} more; --reveal shows all`] : lines;
}
