/* oxlint-disable no-control-regex -- what is written to a terminal is what this is about */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliOptions, cliFolder, type Result } from "../../test/support/cli.ts";
import {
  copyOf,
  fillHostile,
  forgeNames,
  HOSTILE,
  NAME,
  positionsIn,
  TOKEN,
} from "../../test/support/hostile.ts";
import { catalog } from "./catalog.ts";
import { width } from "./format.ts";

type Lines = readonly (readonly string[])[];

/** A case for every command. One that is not here fails the test below, so that a new command is covered or says why not. */
const CASES: Readonly<Record<string, ((name: string) => Lines) | "prints nothing of a run">> = {
  init: () => [
    ["init", HOSTILE],
    ["init", "--template", HOSTILE],
  ],
  run: (q) => [
    ["run", `flow.mjs#done${q}`, "-i", `"${HOSTILE.replaceAll("\t", "")}"`],
    ["run", `flow.mjs#failing${q}`, "--id", "failed-2"],
    ["run", `flow.mjs#gated${q}`, "--id", "gated-3", "--name", HOSTILE, "--label", `a=${HOSTILE}`],
    ["run", "flow.mjs"],
    ["run", `${HOSTILE}.ts`],
  ],
  resume: () => [
    ["resume", "failed-1"],
    ["resume", "gated-2", "--as", HOSTILE, "--reason", HOSTILE],
    ["resume", "doubt-1"],
    ["resume", "gated-1", "--plan"],
    ["resume", HOSTILE],
  ],
  pause: () => [
    ["pause", "gated-1", "--as", HOSTILE, "--reason", HOSTILE],
    ["pause", "done-1"],
  ],
  cancel: (q) => [
    ["cancel", "gated-1"],
    ["cancel", "failed-1", "--compensate"],
    ["cancel", "--workflow", `gated${q}`, "--yes"],
  ],
  retry: (q) => [
    ["retry", `failed-1:bad${q}`],
    ["retry", `failed-1:good${q}`],
  ],
  inject: () => [
    ["inject", "gated-1", "--text", HOSTILE],
    ["inject", "gated-2", "--set", `memory.${HOSTILE}=1`],
  ],
  signal: () => [
    ["signal", "gated-1", "go"],
    ["signal", "gated-1", HOSTILE],
  ],
  list: () => [
    ["list"],
    ["list", "--needs-me"],
    ["list", HOSTILE],
    ["list", "--text", HOSTILE],
    ["list", "--view", HOSTILE],
  ],
  show: (q) => [
    ["show", "gated-1", "--input", "--output", "--attempts", "--decisions", "--lineage", "--all"],
    ["show", "done-1", "--output", "--reveal"],
    ["show", "failed-1", "--attempts", "-v"],
    ["show", `failed-1:bad${q}`, "-v"],
    ["show", "doubt-1"],
    ["show", `gated-1:${HOSTILE}`],
  ],
  logs: () => [
    ["logs", "gated-1", "--level", "debug"],
    ["logs", "failed-1"],
    ["logs", "doubt-1"],
  ],
  "gate list": () => [["gate", "list"]],
  "gate show": (q) => [
    ["gate", "show", `gated-1:approve${q}`],
    ["gate", "show", `gated-1:approve${q}`, "--masked"],
  ],
  "gate approve": (q) => [
    ["gate", "approve", `gated-1:approve${q}`, "--comment", HOSTILE],
    ["gate", "approve", HOSTILE],
  ],
  "gate reject": (q) => [["gate", "reject", `gated-1:approve${q}`]],
  "gate answer": (q) => [
    ["gate", "answer", `gated-1:approve${q}`, "--choice", HOSTILE],
    ["gate", "answer", `gated-1:approve${q}`, "--choice", `no${q}`],
  ],
  "checkpoints list": () => [["checkpoints", "list", "gated-1"]],
  "checkpoints show": () => [
    ["checkpoints", "show", "gated-1@last"],
    ["checkpoints", "show", "gated-1@last", "--reveal"],
  ],
  "checkpoints create": () => [["checkpoints", "create", "gated-1", "--label", HOSTILE]],
  "checkpoints pin": (q) => [["checkpoints", "pin", `gated-1@mark${q}`, "--label", HOSTILE]],
  "checkpoints unpin": (q) => [["checkpoints", "unpin", `gated-1@mark${q}`]],
  "checkpoints diff": () => [["checkpoints", "diff", "gated-1@first", "gated-1@last"]],
  "checkpoints validate": () => [["checkpoints", "validate", "gated-1@last"]],
  "checkpoints export": () => [["checkpoints", "export", "gated-1"]],
  "checkpoints import": () => [["checkpoints", "import", "flow.mjs"]],
  "checkpoints prune": () => [["checkpoints", "prune", "--keep", "1", "--dry-run"]],
  "checkpoints clear": (q) => [
    ["checkpoints", "clear", `done${q}`, "--yes"],
    ["checkpoints", "clear", HOSTILE],
  ],
  delete: () => [
    ["delete", "gated-1"],
    ["delete", HOSTILE, "--force"],
  ],
  diff: () => [
    ["diff", "gated-1@first", "gated-1@last", "--reveal"],
    ["diff", "gated-1@first", "done-1@last"],
  ],
  fork: (q) => [
    ["fork", `gated-1@mark${q}`, "--dry-run"],
    ["fork", `gated-1@mark${q}`, "--name", "f1", "--yes"],
  ],
  replay: () => [
    ["replay", "gated-1@last"],
    ["replay", "gated-1@last", "--reveal"],
  ],
  "list-checkpoints": (q) => [
    ["list-checkpoints", "--task=gated-1"],
    ["list-checkpoints", `--task=gated${q}`],
  ],
  "diff-checkpoints": (q) => [
    ["diff-checkpoints", "--task=gated-1", "--from=first", "--to=last"],
    ["diff-checkpoints", `--from=mark${q}`, "--to=last"],
  ],
  "validate-checkpoint": () => [
    ["validate-checkpoint", "--file=flow.mjs"],
    ["validate-checkpoint", `--file=${HOSTILE}.json`],
  ],
  cost: () => [["cost"], ["cost", "gated-1", "--by", "model"], ["cost", "gated-1", "--by", "step"]],
  "report trail": () => [["report", "trail", "gated-1"]],
  "report acts": () => [
    ["report", "acts"],
    ["report", "acts", "--actor", HOSTILE],
  ],
  "report recoveries": () => [["report", "recoveries"]],
  "report reliability": () => [["report", "reliability"]],
  "report steps": () => [["report", "steps"]],
  "report effects": () => [["report", "effects"]],
  "report capacity": () => [["report", "capacity"]],
  "report evidence": () => [
    ["report", "evidence", "gated-1", "--format", "md"],
    ["report", "evidence", HOSTILE],
  ],
  "report verify": () => [["report", "verify", HOSTILE, "--key", HOSTILE]],
  "audit list": () => [["audit", "list"]],
  "audit verify": () => [["audit", "verify", "--anchor", HOSTILE, "--key", HOSTILE]],
  "audit export": () => [["audit", "export", "--out", "audit.jsonl"]],
  "audit anchor": () => [["audit", "anchor"]],
  "audit verifier": "prints nothing of a run",
  "audit key": () => [["audit", "key", HOSTILE]],
  "audit rotate": () => [["audit", "rotate", "--to-file", HOSTILE]],
  slo: () => [["slo"], ["slo", "--check"]],
  "alerts list": () => [["alerts", "list"]],
  "alerts ack": () => [["alerts", "ack", HOSTILE]],
  "alerts test": () => [["alerts", "test"]],
  "budgets list": () => [["budgets", "list"]],
  "budgets set": () => [["budgets", "set", HOSTILE, "--usd", HOSTILE, "--label", HOSTILE]],
  "budgets delete": () => [["budgets", "delete", HOSTILE]],
  "prices list": () => [["prices", "list"]],
  "prices set": () => [
    ["prices", "set", HOSTILE, "--input", "1", "--output", "2", "--source", HOSTILE],
    ["prices", "set", HOSTILE, "--input", HOSTILE],
  ],
  "prices delete": () => [["prices", "delete", HOSTILE]],
  // It speaks to a program; its own tests have hostile runs.
  mcp: "prints nothing of a run",
  validate: () => [
    ["validate", "gated-1"],
    ["validate", "gated-1@last"],
    ["validate", "flow.mjs"],
    ["validate", HOSTILE],
  ],
  verify: () => [["verify"], ["verify", "gated-1"]],
  accept: () => [
    ["accept", "gated-1"],
    ["accept", HOSTILE],
  ],
  export: () => [
    ["export", "gated-1"],
    ["export", "gated-1", "-o", "out.jsonl", "--yes"],
  ],
  import: () => [
    ["import", "flow.mjs"],
    ["import", HOSTILE],
  ],
  migrate: (q) => [["migrate"], ["migrate", `flow.mjs#gated${q}`, "--plan"]],
  doctor: () => [["doctor"]],
  "crash-test": () => [["crash-test", "x.ts", "--limit", HOSTILE]],
  demo: "prints nothing of a run",
  "config show": () => [["config", "show", "--as", HOSTILE]],
  "config validate": () => [["config", "validate", "--config", HOSTILE]],
  "config schema": () => [["config", "schema"]],
  serve: () => [
    ["serve", HOSTILE],
    ["serve", "--host", HOSTILE],
    ["serve", "--allow-origin", HOSTILE],
  ],
  "token create": () => [
    ["token", "create", HOSTILE],
    ["token", "create", "ci", "--for", HOSTILE, "--workflow", HOSTILE],
  ],
  "token list": () => [["token", "list"]],
  "token rotate": () => [["token", "rotate", HOSTILE]],
  "token revoke": () => [["token", "revoke", HOSTILE]],
  "schedules list": () => [["schedules", "list"]],
  "schedules show": () => [["schedules", "show", HOSTILE]],
  "schedules create": () => [
    ["schedules", "create", HOSTILE, "gated", "--cron", "@daily"],
    ["schedules", "create", "nightly", HOSTILE, "--cron", HOSTILE],
  ],
  "schedules update": () => [
    ["schedules", "update", "nightly", "--cron", HOSTILE],
    ["schedules", "update", HOSTILE, "--cron", "0 2 * * *"],
  ],
  "schedules pause": () => [["schedules", "pause", HOSTILE]],
  "schedules resume": () => [["schedules", "resume", HOSTILE]],
  "schedules delete": () => [["schedules", "delete", HOSTILE]],
  "schedules trigger": () => [["schedules", "trigger", HOSTILE]],
  "schedules backfill": () => [["schedules", "backfill", HOSTILE, "--from", HOSTILE, "--to", HOSTILE]],
  "schedules next": () => [["schedules", "next", HOSTILE]],
  "queues list": () => [["queues", "list"]],
  "queues show": () => [["queues", "show", HOSTILE]],
  "queues set": () => [["queues", "set", HOSTILE, "--concurrency", HOSTILE]],
  "queues pause": () => [["queues", "pause", HOSTILE]],
  "queues resume": () => [["queues", "resume", HOSTILE]],
  "queues delete": () => [["queues", "delete", HOSTILE]],
  "rate-limits list": () => [["rate-limits", "list"]],
  "rate-limits set": () => [["rate-limits", "set", HOSTILE, "--calls", "5"]],
  "rate-limits hold": () => [["rate-limits", "hold", HOSTILE, HOSTILE]],
  "rate-limits delete": () => [["rate-limits", "delete", HOSTILE]],
  worker: () => [["worker", HOSTILE]],
  workers: () => [["workers"]],
  explain: () => [["explain", HOSTILE]],
  completion: () => [
    ["completion", HOSTILE],
    ["completion", "candidates", "--", "show", "ga"],
  ],
};

/** Commands that change nothing: they share one store, and the last test sees that it is as it was. */
const READS: readonly string[] = [
  "list",
  "show",
  "logs",
  "gate list",
  "gate show",
  "checkpoints list",
  "checkpoints show",
  "checkpoints diff",
  "checkpoints validate",
  "diff",
  "replay",
  "cost",
  "report trail",
  "report acts",
  "report recoveries",
  "report reliability",
  "report steps",
  "report effects",
  "report capacity",
  "validate",
  "verify",
  "doctor",
  "config show",
  "config validate",
  "config schema",
  "token list",
  "schedules list",
  "schedules show",
  "schedules next",
  "queues list",
  "queues show",
  "rate-limits list",
  "workers",
  "explain",
  "completion",
];

const folder = cliFolder();
let forged = "";
let positions: string[][] = [];
beforeAll(async () => {
  await fillHostile(folder);
  forged = copyOf(folder.path);
  await forgeNames(forged);
  positions = await Promise.all([folder.path, forged].map(positionsIn));
});
afterAll(() => {
  folder.remove();
  rmSync(forged, { recursive: true, force: true });
});

/** Every command by its full name. */
async function everyCommand(): Promise<string[]> {
  const found: string[] = [];
  for (const listed of catalog) {
    const loaded = await listed.load();
    if ("commands" in loaded) found.push(...loaded.commands.map(({ name }) => `${listed.name} ${name}`));
    else found.push(listed.name);
  }
  return found;
}

interface Mode {
  readonly flags: readonly string[];
  readonly options: CliOptions;
}

const MODES = {
  pipe: { flags: [], options: {} },
  terminal: { flags: ["-v"], options: { columns: 80 } },
  json: { flags: ["--json"], options: {} },
  stream: { flags: ["--jsonl"], options: {} },
} satisfies Record<string, Mode>;

/** What the command line itself makes a terminal do: colours, and the movements of the live block and of progress. */
const OWN = /\u001b\[(?:[12]|22|3[1236]|39)m|\u001b\[\d+A\r|\r(?=\u001b\[)|\u001b\[(?:J|2K|\?25[lh])/g;
const OBEYED =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]|\p{Surrogate}/u;

const obeyed = ({ stdout, stderr }: Result): string | undefined => {
  const text = (stdout + stderr).replace(OWN, "");
  const at = text.search(OBEYED);
  return at < 0 ? undefined : JSON.stringify(text.slice(Math.max(0, at - 40), at + 20));
};

describe("what a hostile run says (X7)", () => {
  it("is tried with every command there is", async () => {
    expect((await everyCommand()).filter((name) => !(name in CASES))).toEqual([]);
    expect(Object.keys(CASES).sort()).toEqual((await everyCommand()).sort());
  });

  for (const [name, linesFor] of Object.entries(CASES)) {
    if (typeof linesFor === "string") continue;
    it(`is shown and not obeyed by ${name}`, async () => {
      const { pipe, terminal, json, stream } = MODES;
      const texts = linesFor(TOKEN).flatMap((line) =>
        [terminal, json].map((as) =>
          tried(line, as, READS.includes(name) ? folder.path : copyOf(folder.path)),
        ),
      );
      const names = linesFor(NAME).flatMap((line) =>
        [terminal, pipe, stream].map((as) => tried(line, as, READS.includes(name) ? forged : copyOf(forged))),
      );
      expect((await Promise.all([...texts, ...names])).flat()).toEqual([]);
    });
  }

  it("is left as it was by the commands that only read", async () => {
    expect(READS.filter((name) => !(name in CASES))).toEqual([]);
    expect(await Promise.all([folder.path, forged].map(positionsIn))).toEqual(positions);
  });
});

/** What is wrong with what a command prints. */
async function tried(line: readonly string[], { flags, options }: Mode, root: string): Promise<string[]> {
  const result = await folder.run([...line, ...flags], { ...options, root });
  if (root !== folder.path && root !== forged) rmSync(root, { recursive: true, force: true });
  const bad = obeyed(result);
  const longest = Math.max(...`${result.stdout}${result.stderr}`.split("\n").map(width));
  if (flags[0] === "--json" && result.stdout !== "") JSON.parse(result.stdout);
  return [
    ...(bad === undefined ? [] : [`${line.slice(0, 2).join(" ")} ${flags.join(" ")}: ${bad}`]),
    ...(options.columns !== undefined && longest > 4_100 ? [`a line of ${longest} columns`] : []),
  ];
}
