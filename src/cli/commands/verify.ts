import { defined } from "../../core/defined.ts";
import type { DamagedRun, StoreVerification } from "../../core/manage/verify/verify.ts";
import { defineCommand } from "../command.ts";
import { count, plural } from "../format.ts";
import { usage } from "../globals.ts";
import type { Outcome } from "../outcome.ts";
import { damaged } from "./validate/invalid.ts";

const wholeNumber = (text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usage("--limit must be a whole number above 0", `It was ${text}.`, "holdfast verify --limit 100");
};

/** `holdfast verify`: checks whether a whole store is intact. Changes nothing and calls no code. */
export const command = defineCommand({
  name: "verify",
  summary: "Check a whole store: every run's row, journal and values",
  options: {
    limit: { flag: "--limit <n>", summary: "Only this many newest runs", parse: wholeNumber },
  },
  examples: ["verify", "verify --limit 100", "verify --json"],
  async run(context) {
    const engine = await context.engine();
    const { limit } = context.options;
    const found = await engine.reports.verify(defined({ limit }));
    return outcome(context.where, found);
  },
});

function outcome(where: string, found: StoreVerification): Outcome {
  const { ok, ...told } = found;
  const { runs, damaged: bad, store: own, unchecked, audit } = told;
  const store = [
    ...own,
    ...(audit?.problems ?? []).map(({ kind, where: at, problem }) => `audit log, ${kind} ${at}: ${problem}`),
  ];
  const data = { ...told, where };
  const left =
    unchecked.length === 0
      ? []
      : [`! ${plural(unchecked.length, "run")} not checked: the key of the values is not at hand`];
  if (ok) {
    const text = `✓ ${plural(runs, "run")}: rows, journals, values and blobs are as they were written`;
    const signed = audit?.signed ? [`✓ audit log: signed up to leaf ${audit.signed.size}`] : [];
    return { data, text: [text, ...signed, ...left].join("\n") };
  }
  const lines = [
    ...store.map((problem) => `✗ store  ${problem}`),
    ...bad.flatMap(linesOf),
    ...left,
    `${count(bad.length)} of ${plural(runs, "run")} damaged`,
  ];
  const why = store[0] ?? bad[0]?.problems[0]?.problem ?? "";
  const good = bad.find(({ lastGood }) => lastGood !== null)?.lastGood;
  const total = store.length + bad.reduce((sum, { problems }) => sum + problems.length, 0);
  return {
    data,
    text: lines.join("\n"),
    next: good === undefined || good === null ? [] : [`fork ${good}`],
    ...damaged(
      where,
      plural(total, "problem"),
      why,
      "Nothing was changed. A damaged run is not advanced: it waits for review.",
      "Restore the store from a backup, or fork a damaged run from its last good checkpoint.",
    ),
  };
}

const linesOf = ({ runId, problems, lastGood }: DamagedRun): string[] => [
  ...problems.map(({ seq, problem }) => `✗ ${runId}  #${seq}  ${problem}`),
  `  ${lastGood === null ? "no checkpoint of it can be relied on" : `last good checkpoint ${lastGood}`}`,
];
