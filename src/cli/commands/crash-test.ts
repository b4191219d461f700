import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { defined } from "../../core/defined.ts";
import { crashTest } from "../../testing/crash-test/crash-test.ts";
import type { CrashTestOptions } from "../../testing/crash-test/options.ts";
import { faults } from "../../testing/crash-test/places.ts";
import { type CrashTestReport, reportToJson } from "../../testing/crash-test/report.ts";
import { reportToJunit, reportToMarkdown } from "../../testing/crash-test/report-files.ts";
import { reportToText } from "../../testing/crash-test/report-text.ts";
import { builtScript } from "../../testing/package-files.ts";
import { defineCommand, type Values } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { usage } from "../globals.ts";
import { readLoose, splitPair, writtenInput } from "../inputs.ts";
import type { Outcome } from "../outcome.ts";
import { progressLine } from "../view/crash-progress.ts";
import { roomOf } from "../view/table.ts";

const options = {
  at: { flag: "--at <where>", summary: "Every boundary, random ones, or those of one step (default every)" },
  fault: { flag: "--fault <fault>", summary: "What goes wrong there", choices: faults },
  input: { flag: "-i, --input <k=v>", summary: "One input value, or the whole input as JSON", list: true },
  inputFile: {
    flag: "--input-file <file>",
    summary: "Read the input from a JSON or YAML file; - reads standard input",
  },
  limit: {
    flag: "--limit <n>",
    summary: "At most this many boundaries, 0 for all (default 100)",
    parse: readWhole,
  },
  seed: { flag: "--seed <n>", summary: "The seed for everything random (default 1)", parse: readWhole },
  case: { flag: "--case <id>", summary: "Only this case, as a report names it" },
  twice: { flag: "--twice", summary: "Also kill the process that recovers" },
  answer: {
    flag: "--answer <gate=choice>",
    summary: "What to choose at a gate (default: its first choice)",
    list: true,
  },
  signal: {
    flag: "--signal <name=json>",
    summary: "What to send to runs that wait for this signal",
    list: true,
  },
  lanes: { flag: "--lanes <n>", summary: "Cases at a time (default 2)", parse: readWhole },
  claim: {
    flag: "--claim <ms>",
    summary: "How long a dead process keeps its run (default 500)",
    parse: readWhole,
  },
  patience: { flag: "--patience <s>", summary: "How long one process may take", parse: readWhole },
  report: { flag: "--report <kind[=file]>", summary: "Write a report: junit, md or json", list: true },
} as const;

type Given = CommandContext<Values<typeof options>>;

function readWhole(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usage(`${text} isn't a whole number`, "Use digits only.", "--limit 20");
}

/**
 * `holdfast crash-test <workflow>`: kills it at every durable boundary and reports whether anything was done twice,
 * lost or stuck.
 */
export const command = defineCommand({
  name: "crash-test",
  summary: "Kill a workflow at every boundary and count what was lost or done twice",
  args: ["<workflow>"],
  options,
  examples: [
    "crash-test agent.ts",
    "crash-test agent.ts --at pay --fault store-down",
    "crash-test agent.ts --limit 0 --report md --report junit",
  ],
  async run(context) {
    const plan = await planOf(context);
    const files = (context.options.report ?? []).map(reportFile);
    const progress = progressLine(context.host.stderr, context.out, context.globals);
    const abort = new AbortController();
    const off = context.host.onSignal(() => abort.abort(STOPPED));
    try {
      const report = await crashTest({
        ...plan,
        signal: abort.signal,
        onProgress: (one) => progress.show(one),
      });
      progress.end();
      return outcome(context, report, writeReports(context, report, files));
    } catch (error) {
      progress.end();
      if (error !== STOPPED) throw error;
      return {
        data: { ok: false, stopped: true },
        text: "Stopped; nothing is left behind.",
        exit: EXIT.interrupted,
      };
    } finally {
      off();
    }
  },
});

const STOPPED = new Error("stopped");

async function planOf(context: Given): Promise<CrashTestOptions> {
  const { options: given, globals, host } = context;
  const [named = ""] = context.args;
  // A YAML workflow declares the types of its inputs.
  const input = await writtenInput(given, host, /\.ya?ml$/.test(named));
  const { at, fault, limit, seed, lanes, claim, patience } = given;
  return {
    file: named,
    loader: {
      module: builtScript("cli/crash-test-loader"),
      args: [named, host.cwd, { ...globals, store: undefined }, input ?? null],
    },
    twice: given.twice,
    answers: Object.fromEntries((given.answer ?? []).map((text) => splitPair(text, "--answer"))),
    signals: Object.fromEntries((given.signal ?? []).map(signalOf)),
    command: (id) => repeat(context, named, id),
    ...defined({ store: globals.store, at, fault, limit, seed, lanes, case: given.case, claimMs: claim }),
    ...(patience === undefined ? {} : { patienceMs: patience * 1_000 }),
  };
}

function signalOf(text: string): readonly [string, unknown] {
  const [name, value] = splitPair(text, "--signal");
  return [name, readLoose(value)];
}

const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The command that repeats one case, with every relevant option. */
function repeat({ options: given, globals }: Given, named: string, id: string): string {
  const flags: readonly (readonly [string, string | number | undefined])[] = [
    ...(given.input ?? []).map((text) => ["-i", text] as const),
    ["--input-file", given.inputFile],
    ["--fault", given.fault],
    ...(given.answer ?? []).map((text) => ["--answer", text] as const),
    ...(given.signal ?? []).map((text) => ["--signal", text] as const),
    ["--store", globals.store],
    ["--claim", given.claim],
    ["--seed", given.twice ? given.seed : undefined],
    ["--case", id],
  ];
  const words = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, quoted(String(value))]));
  return ["holdfast", "crash-test", quoted(named), ...words, ...(given.twice ? ["--twice"] : [])].join(" ");
}

type ReportKind = "junit" | "md" | "json";
interface ReportFile {
  readonly kind: ReportKind;
  readonly file: string;
}

const FILES: Readonly<Record<ReportKind, string>> = {
  junit: "junit.xml",
  md: "crash-test.md",
  json: "crash-test.json",
};

function reportFile(text: string): ReportFile {
  const [kind = "", ...rest] = text.split("=");
  if (!Object.hasOwn(FILES, kind))
    throw usage(`there is no report ${kind}`, `There are ${Object.keys(FILES).join(", ")}.`, "--report md");
  const file = rest.join("=");
  return { kind: kind as ReportKind, file: file === "" ? FILES[kind as ReportKind] : file };
}

/**
 * Writes the reports and returns their names. The digest in a Markdown report refers to a file, so that file is written
 * too.
 */
function writeReports({ host }: Given, report: CrashTestReport, files: readonly ReportFile[]): string[] {
  const texts: Readonly<Record<ReportKind, (report: CrashTestReport) => string>> = {
    junit: reportToJunit,
    md: reportToMarkdown,
    json: reportToJson,
  };
  const beside = files.flatMap(({ kind, file }): ReportFile[] =>
    kind === "md" ? [{ kind: "json", file: `${file.replace(/\.md$/, "")}.json` }] : [],
  );
  const all = new Map([...files, ...beside].map((one) => [one.file, one.kind]));
  for (const [file, kind] of all) writeFileSync(resolve(host.cwd, file), texts[kind](report));
  return [...all.keys()];
}

function outcome({ out, host }: Given, report: CrashTestReport, files: readonly string[]): Outcome {
  const { green, red, bold, dim } = out.paint;
  const columns = roomOf(host);
  const text = reportToText(report, { good: green, bad: red, strong: bold, dim }, columns);
  const [first] = report.problems;
  return {
    data: { ok: report.ok, report, files },
    text: files.length === 0 ? text : `${text}\n\n  report: ${files.join("  ")}`,
    exit: report.ok ? EXIT.done : EXIT.failed,
    ...(first && first.repeat !== "" ? { next: [first.repeat.replace(/^holdfast /, "")] } : {}),
  };
}
