import { HoldfastError } from "../../../core/errors.ts";
import { addressOf } from "../../../core/journal/address.ts";
import { entryPages } from "../../../core/journal/read.ts";
import type { Validation } from "../../../core/manage/checkpoints/validate.ts";
import type { Store } from "../../../core/store/contract.ts";
import { type RunRow, terminal } from "../../../core/types.ts";
import type { CommandContext } from "../../context.ts";
import { count, plural } from "../../format.ts";
import type { Outcome } from "../../outcome.ts";
import { bytes } from "../../view/sizes.ts";
import { fetched } from "../../view/stored-values.ts";
import { damaged } from "./invalid.ts";

/**
 * Checks a run or a checkpoint: its chain and values, its size, whether it can be read, and whether the current code
 * can continue it.
 */
export async function validateStored(
  context: CommandContext<unknown>,
  what: string,
  file: string | undefined,
): Promise<Outcome> {
  const addresses = await context.addresses();
  const isWhole = !what.slice(1).includes("@");
  const { run, address } = isWhole
    ? { run: await addresses.run(what), address: undefined }
    : await addresses.checkpoint(what);
  const subject = address ?? run.id;
  const store = await context.store();
  const { checkpoints } = await context.engine();
  const found = await checkpoints.validate(subject);
  const upTo = address === undefined ? run.seq : Number(address.split("@")[1]);
  const size = await sizeOf(store, run, upTo);
  const readable = await fetched(() => checkpoints.digest(addressOf(run.id, upTo)));
  const code = await migratability(context, run, file);
  const data = {
    kind: isWhole ? "run" : "checkpoint",
    subject,
    ...found,
    bytes: size,
    readable: "value" in readable,
    code,
  };
  const lines = [
    `${plural(found.checkpoints, "checkpoint")}, ${bytes(size)} of journal`,
    "value" in readable
      ? `state readable, digest ${String(readable.value)}`
      : `state not readable: ${readable.gone}`,
    code.text,
  ];
  if (found.ok)
    return {
      data,
      text: [
        `✓ ${subject}: chain and values are as they were written`,
        ...lines.map((line) => `  ${line}`),
      ].join("\n"),
    };
  const problems = found.problems.map(({ seq, problem }) => `✗ #${seq}  ${problem}`);
  return {
    data,
    text: [...problems, ...lines.map((line) => `  ${line}`)].join("\n"),
    ...broken(subject, found),
  };
}

function broken(subject: string, { problems, lastGood }: Validation): Pick<Outcome, "error" | "exit"> {
  const safe =
    lastGood === null
      ? "No checkpoint of it can be relied on."
      : `Everything up to ${lastGood} is exactly as it was written.`;
  const fix = lastGood === null ? "Restore the store from a backup." : `holdfast fork ${lastGood}`;
  return damaged(subject, plural(problems.length, "problem"), problems[0]?.problem ?? "", safe, fix);
}

async function sizeOf(store: Store, run: RunRow, upTo: number): Promise<number> {
  let size = 0;
  for await (const page of entryPages(store, run.id, 1, upTo))
    for (const { head, data } of page) size += head.length + (data?.length ?? 0);
  return size;
}

interface Migratability {
  readonly outcome: "current" | "migrates" | "parks" | "ended" | "unknown";
  readonly text: string;
}

/** What the current code would do with it. */
async function migratability(
  context: CommandContext<unknown>,
  run: RunRow,
  file: string | undefined,
): Promise<Migratability> {
  if (terminal(run.status) || run.prunedAt !== null)
    return { outcome: "ended", text: "it has ended, so no code continues it" };
  try {
    const code = await context.codeOf(run, { file });
    const { migrations } = await context.engine({ workflows: code.all });
    const [report] = (await migrations.check(run.id)).runs;
    if (!report) return { outcome: "unknown", text: "code not checked" };
    const { from, to, hops, problem } = report;
    if (report.outcome === "current")
      return { outcome: "current", text: `the code is of its version (${to})` };
    if (report.outcome === "migrates")
      return {
        outcome: "migrates",
        text: `migrates ${from} → ${to} in ${count(hops.length)} ${hops.length === 1 ? "step" : "steps"}`,
      };
    return { outcome: "parks", text: `would wait for a migration ${from} → ${to}: ${problem ?? ""}` };
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return { outcome: "unknown", text: `code not checked: ${error.message}` };
  }
}
