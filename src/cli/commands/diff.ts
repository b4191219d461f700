import { isInside } from "../../core/keys.ts";
import type { CheckpointDiff, PatchOperation } from "../../core/manage/checkpoints/diff.ts";
import { diffToText } from "../../core/manage/checkpoints/diff-text.ts";
import { defineCommand, type Values } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { count, tokens, usd } from "../format.ts";
import { usage } from "../globals.ts";
import type { Outcome } from "../outcome.ts";
import type { Paint } from "../paint.ts";
import { withoutSecrets } from "../view/stored-values.ts";
import { maskedDiff } from "./diff/mask.ts";

const PARTS = ["state", "steps", "decisions", "cost"] as const;
type Part = (typeof PARTS)[number];
type Shape = Values<typeof options>;

const options = {
  path: { flag: "--path <path>", summary: "Only below this path, such as memory.totals" },
  stat: { flag: "--stat", summary: "Only print how much differs" },
  only: { flag: "--only <part>", summary: "Only this part", choices: PARTS },
  format: {
    flag: "--format <format>",
    summary: "The output format",
    choices: ["text", "json", "jsonpatch"] as const,
  },
  reveal: { flag: "--reveal", summary: "Show values in full, neither shortened nor masked" },
} as const;

/** `holdfast diff`: compares two checkpoints, of one run or of two. */
export const command = defineCommand({
  name: "diff",
  summary: "Compare two checkpoints, of one run or of two",
  args: ["<checkpoint>", "<checkpoint>"],
  options,
  examples: [
    "diff recon-88@12 recon-88@14",
    "diff aapl@phase1 aapl@phase2 --stat",
    "diff a@last b@last --only state",
    "diff recon-88@12 recon-88@14 --format jsonpatch --reveal",
  ],
  async run(context) {
    const { args } = context;
    const addresses = await context.addresses();
    const from = await addresses.checkpoint(args[0] ?? "");
    const to = await addresses.checkpoint(args[1] ?? "");
    return compare(context, from.address, to.address, context.options);
  },
});

/** `holdfast diff-checkpoints --from=… --to=…`: the same, as the checkpoint system design spells it. */
export const diffOfTask = defineCommand({
  name: "diff-checkpoints",
  summary: "Same as diff",
  options: {
    from: { flag: "--from <checkpoint>", summary: "A phase, label, position or checkpoint id" },
    to: { flag: "--to <checkpoint>", summary: "The same" },
    task: {
      flag: "--task <task>",
      summary: "The run or workflow that has them (default: the newest run)",
    },
    ...options,
  },
  examples: [
    "diff-checkpoints --from=phase1 --to=phase2",
    "diff-checkpoints --task=aapl --from=12 --to=last",
  ],
  async run(context) {
    const { from, to, task = "@last" } = context.options;
    if (from === undefined || to === undefined)
      throw usage(
        "one of the two checkpoints is missing",
        "Name them with --from and --to.",
        "holdfast diff-checkpoints --from=phase1 --to=phase2",
      );
    const addresses = await context.addresses();
    const before = await addresses.placed(from, task);
    const after = await addresses.placed(to, task);
    return compare(context, before.address, after.address, context.options);
  },
});

async function compare(
  context: CommandContext<unknown>,
  from: string,
  to: string,
  options: Shape,
): Promise<Outcome> {
  const { checkpoints } = await context.engine();
  const whole = narrowed(await checkpoints.diff(from, to), options.path, options.only);
  const diff = options.reveal ? whole : maskedDiff(whole);
  const stat = statOf(diff);
  const data = options.stat ? { from: diff.from, to: diff.to, same: diff.same, stat } : { ...diff, stat };
  if (options.format === "jsonpatch") {
    if (!options.reveal) context.out.say("Values are masked; with --reveal the patch can be applied.");
    return { data, text: JSON.stringify(diff.patch, null, 2), isValue: true };
  }
  if (options.format === "json") return { data, text: JSON.stringify(data, null, 2), isValue: true };
  if (options.stat) return { data, text: statText(diff, stat) };
  const text = diffToText(options.reveal ? whole : maskedDiff(whole, Number.POSITIVE_INFINITY));
  return { data, text: coloured(options.reveal ? text : withoutSecrets(text), context.out.paint) };
}

const NO_USAGE = { tokens: 0, costUsd: 0, turns: 0, activeMs: 0 };

/** Only the requested part; the rest counts as equal. */
function narrowed(diff: CheckpointDiff, path: string | undefined, only: Part | undefined): CheckpointDiff {
  const has = (part: Part): boolean => only === undefined || only === part;
  const pointer =
    path === undefined
      ? ""
      : `/${path
          .replace(/^state\./, "")
          .split(".")
          .join("/")}`;
  const isBelow = (operation: PatchOperation): boolean => plain(operation.path).startsWith(pointer);
  const withState = has("state") || has("steps");
  const state = withState ? below(diff.state, path) : null;
  const { steps: inSteps, ...rest } = (state ?? {}) as Record<string, unknown>;
  const kept = only === "state" ? rest : only === "steps" ? { steps: inSteps } : (state ?? {});
  const isSteps = path === undefined || /^(state\.)?steps\b/.test(path);
  return {
    ...diff,
    state: Object.values(kept).some((part) => part !== undefined) ? (kept as CheckpointDiff["state"]) : null,
    patch: withState
      ? diff.patch.filter(
          (one) =>
            isBelow(one) &&
            (only !== "state" || !one.path.startsWith("/steps/")) &&
            (only !== "steps" || one.path.startsWith("/steps/")),
        )
      : [],
    steps: has("steps") && isSteps ? stepsBelow(diff.steps, path) : { added: {}, removed: {}, changed: {} },
    decisions: has("decisions") && path === undefined ? diff.decisions : { added: [], removed: [] },
    ...(has("cost") && path === undefined ? {} : { usage: NO_USAGE, ms: 0 }),
    ...(only === undefined && path === undefined
      ? {}
      : { status: { from: diff.status.to, to: diff.status.to } }),
  };
}

/** A pointer's parts as a path. */
const plain = (pointer: string): string => pointer.replaceAll("~1", "/").replaceAll("~0", "~");

function stepsBelow(steps: CheckpointDiff["steps"], path: string | undefined): CheckpointDiff["steps"] {
  const step = path?.replace(/^(state\.)?steps\.?/, "") ?? "";
  if (step === "") return steps;
  const only = <T>(values: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(
      Object.entries(values).filter(
        ([key]) => key === step || step.startsWith(`${key}.`) || isInside(key, step),
      ),
    );
  return { added: only(steps.added), removed: only(steps.removed), changed: only(steps.changed) };
}

/** The part of a delta below a path, under the same names. Keys may contain dots, so the longest match is used. */
function below(delta: unknown, path: string | undefined): CheckpointDiff["state"] {
  if (path === undefined || delta === null) return delta as CheckpointDiff["state"];
  const rest = path.replace(/^state\./, "");
  if (typeof delta !== "object" || Array.isArray(delta)) return delta as unknown as CheckpointDiff["state"];
  const keys = Object.keys(delta).filter((key) => rest === key || rest.startsWith(`${key}.`));
  const [key] = keys.sort((a, b) => b.length - a.length);
  if (key === undefined) return null;
  const inner = (delta as Record<string, unknown>)[key];
  const left = rest.slice(key.length + 1);
  const found = left === "" ? inner : below(inner, left);
  return found === null || found === undefined ? null : { [key]: found };
}

interface Stat {
  readonly steps: { readonly added: number; readonly removed: number; readonly changed: number };
  readonly state: { readonly added: number; readonly removed: number; readonly changed: number };
  readonly decisions: number;
  readonly tokens: number;
  readonly costUsd: number;
}

function statOf({ steps, patch, decisions, usage }: CheckpointDiff): Stat {
  const own = patch.filter(({ path }) => !path.startsWith("/steps/"));
  const ops = (op: PatchOperation["op"]): number => own.filter((one) => one.op === op).length;
  const size = (values: object): number => Object.keys(values).length;
  return {
    steps: { added: size(steps.added), removed: size(steps.removed), changed: size(steps.changed) },
    state: { added: ops("add"), removed: ops("remove"), changed: ops("replace") },
    decisions: decisions.added.length - decisions.removed.length,
    tokens: usage.tokens,
    costUsd: usage.costUsd,
  };
}

/** One line, and the names of added and removed steps. */
function statText(diff: CheckpointDiff, stat: Stat): string {
  const { steps, state } = stat;
  const signed = (value: number, text: string): string =>
    value === 0 ? "" : `${value > 0 ? "+" : "-"}${text}`;
  const names = Object.keys(diff.steps.added);
  const added =
    names.length === 0 ? "" : ` (${names.slice(0, 4).join(", ")}${names.length > 4 ? ", …" : ""})`;
  const changed = [
    steps.removed > 0 ? `-${steps.removed}` : "",
    steps.changed > 0 ? `~${steps.changed}` : "",
  ];
  return [
    `${diff.from} → ${diff.to}`,
    [
      `  steps +${count(steps.added)}${added}${changed
        .filter((part) => part !== "")
        .map((part) => ` ${part}`)
        .join("")}`,
      `state ${state.changed} changed, ${state.added} added, ${state.removed} removed`,
      signed(stat.tokens, tokens(Math.abs(stat.tokens))),
      signed(stat.costUsd, usd(Math.abs(stat.costUsd))),
    ]
      .filter((part) => part !== "")
      .join("   "),
  ].join("\n");
}

function coloured(text: string, paint: Paint): string {
  return text
    .split("\n")
    .map((line) => {
      if (line.startsWith("  + ")) return paint.green(line);
      if (line.startsWith("  - ")) return paint.red(line);
      return line.startsWith("  ~ ") ? paint.yellow(line) : /^\S/.test(line) ? paint.bold(line) : line;
    })
    .join("\n");
}
