import { promises } from "./findings.ts";
import { type CaseReport, type CrashTestReport, checkReport, reportDigest, reportToJson } from "./report.ts";
import { countOf, effects, milliseconds, remarks, strikes } from "./report-text.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Escapes text for XML 1.0 and drops characters that it can't represent. */
const xml = (text: string): string =>
  text
    .replace(/[\p{Cc}\ufffe\uffff]/gu, (one) => (/\s/.test(one) ? " " : ""))
    .replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one);

/** JUnit XML for continuous integration: one test case per boundary. */
export function reportToJunit(report: CrashTestReport): string {
  checkReport(report);
  const { workflow, cases, seconds, fault, startedAt, problems } = report;
  const broken = cases.filter(({ outcome }) => outcome === "broken").length;
  const missed = cases.filter(({ outcome }) => outcome === "missed").length;
  const plain = problems.filter((problem) => problem.cases === 0);
  const name = `crash-test ${workflow.name} ${fault}`;
  const counts = `tests="${cases.length + plain.length}" failures="${broken + plain.length}" skipped="${missed}"`;
  const suite = `name="${xml(name)}" ${counts} errors="0" time="${seconds}" timestamp="${startedAt}"`;
  const className = xml(`crash-test.${workflow.name}`);
  const lines = [
    ...plain.map(({ promise, message, fix }) => {
      const text = `${xml(message)}\n${xml(fix)}`;
      return `    <testcase classname="${className}" name="${xml(promises[promise])}" time="0"><failure message="${xml(message)}">${text}</failure></testcase>`;
    }),
    ...cases.map((one) => junitCase(one, className, report)),
  ];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="holdfast crash-test" ${counts} time="${seconds}">`,
    `  <testsuite ${suite}>`,
    ...lines,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function junitCase(one: CaseReport, className: string, { problems }: CrashTestReport): string {
  const head = `    <testcase classname="${className}" name="${xml(`${one.id}: ${one.at}`)}" time="${one.seconds}"`;
  if (one.outcome === "held") return `${head}/>`;
  if (one.outcome === "missed") return `${head}><skipped message="not reached this time"/></testcase>`;
  const fixes = problems.filter(({ message }) => one.findings.includes(message)).map(({ fix }) => fix);
  const text = [...one.findings, ...fixes].map(xml).join("\n");
  return `${head}><failure message="${xml(one.findings[0] ?? "")}">${text}</failure></testcase>`;
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

const WORDS: Readonly<Record<CaseReport["outcome"], string>> = {
  held: "✓ held",
  broken: "✗ broken",
  missed: "○ not reached",
};

function factsOf(report: CrashTestReport): readonly (readonly [string, string])[] {
  const { workflow, store, machine, boundaries, recoveryMs, stepsLost, baseline } = report;
  return [
    ["Result", report.ok ? "✓ every promise was kept" : `✗ ${countOf(report.problems.length, "problem")}`],
    ["Date", `${report.startedAt}, ${report.seconds} s`],
    ["Workflow", `${workflow.name}, version ${workflow.version} (${workflow.file})`],
    ["Fault", `${report.fault}, at ${boundaries.selection}, seed ${report.seed}`],
    ["Store", `${store.name}; acknowledged writes survive: ${store.durability}`],
    [
      "Kills",
      `${report.kills}; cases struck ${report.struck}, held ${report.held}, not reached ${boundaries.missed}`,
    ],
    [
      "RTO",
      recoveryMs
        ? `p50 ${milliseconds(recoveryMs.p50)}, p95 ${milliseconds(recoveryMs.p95)}, max ${milliseconds(recoveryMs.max)} (claim ${milliseconds(report.claimMs)} included)`
        : "no process was killed",
    ],
    [
      "RPO",
      `≤ ${countOf(stepsLost.most, "step")} called again for one fault, ${stepsLost.total} in all; acknowledged writes lost: ${lostWrites(report)}`,
    ],
    ["Side effects", effects(report)],
    [
      "Uninterrupted run",
      `${countOf(baseline.steps, "step")}, ${countOf(baseline.calls, "call")}, ${countOf(baseline.writes, "write")}`,
    ],
    ["Versions", `Holdfast ${machine.holdfast}, Node.js ${machine.node}`],
    ["Machine", `${machine.os}, ${machine.arch}, ${machine.cpus} × ${machine.cpu}`],
    ["SHA-256 of the JSON report", `\`${reportDigest(reportToJson(report))}\``],
  ];
}

/**
 * Markdown for an evidence folder: what was tested where and when, the figures, every boundary, and the digest of the
 * JSON report.
 */
export function reportToMarkdown(report: CrashTestReport): string {
  checkReport(report);
  const { name } = report.workflow;
  return [
    `# Crash test of ${name}`,
    "",
    `${strikes(report)}. ${effects(report)}.`,
    "",
    "| | |",
    "|---|---|",
    ...factsOf(report).map(([label, text]) => `| ${label} | ${cell(text)} |`),
    "",
    ...remarks(report).map((line) => `- ${line}`),
    "",
    ...problemSections(report),
    "## Boundaries",
    "",
    "| case | where | outcome | recovered in | steps called again |",
    "|---|---|---|---:|---:|",
    ...report.cases.map(
      ({ id, at, outcome, recoveryMs: ms, stepsLost: lost }) =>
        `| ${id} | ${cell(at)} | ${WORDS[outcome]} | ${ms === null ? "–" : milliseconds(ms)} | ${lost} |`,
    ),
    "",
  ].join("\n");
}

const lostWrites = ({ problems }: CrashTestReport): string =>
  problems.some(({ promise }) => promise === "durable") ? "see below" : "0";

function problemSections({ problems, struck }: CrashTestReport): string[] {
  if (problems.length === 0) return [];
  return [
    "## Problems",
    "",
    ...problems.flatMap(({ promise, message, first, fix, repeat, cases }) => [
      `### Broken: ${promises[promise]}`,
      "",
      message,
      "",
      `- Seen: ${first}${cases === 0 ? "" : `; in ${cases} of ${struck} cases`}`,
      `- What to do: ${fix}`,
      ...(repeat === "" ? [] : [`- To repeat it: \`${repeat}\``]),
      "",
    ]),
  ];
}
