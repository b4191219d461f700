import type { OpenGate } from "../../../core/control/decisions.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { Progress } from "../../../core/manage/checkpoints/progress.ts";
import type { Store } from "../../../core/store/contract.ts";
import { everyRun } from "../../../core/store/query.ts";
import type { RunRow } from "../../../core/types.ts";
import { defineCommand } from "../../command.ts";
import { coarse, oneLine, when, word } from "../../format.ts";
import { doneOf, iso, RunItems } from "../../view/run-rows.ts";
import { answerTo } from "../../view/step-lines.ts";
import { shownValue, summary } from "../../view/stored-values.ts";
import { type Column, roomOf, table } from "../../view/table.ts";
import { findGate } from "./find.ts";

const COLUMNS: readonly Column[] = [
  { title: "GATE", least: 20 },
  { title: "WORKFLOW", least: 8, spare: true },
  { title: "WAITING", align: "right" },
  { title: "DONE", align: "right", spare: true },
  { title: "CHOICES", least: 12 },
  { title: "SHOWS", least: 10 },
];

export const list = defineCommand({
  name: "list",
  summary: "List the gates that wait for an answer, longest wait first",
  examples: ["gate list"],
  async run(context) {
    const { host, out } = context;
    const engine = await context.engine();
    const store = await context.store();
    const now = await store.now();
    const found: { gate: OpenGate; row: RunRow; progress: Progress }[] = [];
    const items = new RunItems(store, now);
    for (const gate of await engine.gates()) {
      const row = await store.read(gate.runId);
      if (row) found.push({ gate, row, progress: (await items.of(row)).progress });
    }
    const rows = found.map(({ gate, row, progress }) => [
      `${gate.runId}:${gate.gate}`,
      row.workflow,
      coarse(Math.max(0, now - gate.since)),
      doneOf(progress),
      gate.choices.join(" "),
      gate.show === undefined ? "" : summary(gate.show, 60),
    ]);
    const room = roomOf(host);
    const [head = "", ...lines] = table(COLUMNS, rows, { room });
    const [first] = found;
    const paused = await gatesOfPaused(engine, store);
    return {
      data: {
        gates: found.map(({ gate }) => gateData(gate, false)),
        paused: paused.map((gate) => gateData(gate, false)),
      },
      text: [
        ...(first ? [out.paint.dim(head), ...lines] : ["✓ No decisions waiting."]),
        ...paused.map(({ runId, gate }) =>
          out.paint.dim(
            `‖ ${runId}:${gate} belongs to a paused run: answer it, then ${context.cli(`resume ${runId}`)}`,
          ),
        ),
      ].join("\n"),
      next: first ? [`gate show ${first.gate.runId}:${first.gate.gate}`] : [],
    };
  },
});

/** How many paused runs are looked at: the newest. */
const MOST_PAUSED = 50;

/** The open gates of runs that somebody has paused, such as with Ctrl-C at the gate. They wait for a resume, too. */
async function gatesOfPaused(engine: Engine, store: Store): Promise<readonly OpenGate[]> {
  const gates: OpenGate[] = [];
  let seen = 0;
  for await (const row of everyRun(store, { status: ["paused"] }, MOST_PAUSED)) {
    if (++seen > MOST_PAUSED) break;
    if (row.damage === undefined) gates.push(...(await engine.gates(row.id)));
  }
  return gates;
}

export const show = defineCommand({
  name: "show",
  summary: "Show what a gate asks, and what it is about",
  args: ["<gate>"],
  options: { masked: { flag: "--masked", summary: "Shorten and mask what the gate shows" } },
  examples: ["gate show recon-88:approve"],
  async run(context) {
    const { out, host } = context;
    const engine = await context.engine();
    const gate = await findGate(context, engine, context.args[0] ?? "", "show");
    const { progress } = await engine.checkpoints.show(gate.runId);
    const now = await (await context.store()).now();
    const address = `${gate.runId}:${gate.gate}`;
    const { paint } = out;
    const acts = gate.choices.map((choice) => answerTo(word(address), choice));
    const shown = shownValue(gate.show, !context.options.masked);
    const value = typeof shown === "string" ? shown : JSON.stringify(shown, null, 2);
    return {
      // A decision needs its context: what the gate shows was meant to be shown. The bar on the left marks the run's
      // own words.
      data: { ...gateData(gate, !context.options.masked), progress: progress.text },
      text: [
        `${paint.bold(oneLine(address))}   ${paint.yellow(`‖ waiting for you ${coarse(Math.max(0, now - gate.since))}`)}`,
        `  ${progress.total === undefined ? progress.text : `${progress.text} complete`}${gate.until === null ? "" : ` · answers itself ${when(gate.until, now, host.stdout.isTTY)}`}`,
        ...(value === undefined
          ? []
          : ["", ...value.split("\n").map((line) => `  ${paint.dim("│")} ${line}`)]),
        ...meaningsOf(gate).map((line) => `  ${paint.dim("│")} ${line}`),
        "",
        paint.bold("You can"),
        ...acts.map((act) => `  ${context.cli(act)}`),
        ...(gate.data ? [paint.dim("  with --data <json>: this gate asks for data")] : []),
        ...(gate.text ? [paint.dim("  with --comment <text>: this gate takes words too")] : []),
      ].join("\n"),
      next: acts,
    };
  },
});

/** What each choice leads to, in the workflow's words or the engine's. */
const meaningsOf = ({ choices, means }: OpenGate): string[] => {
  const told = choices.flatMap((choice) => {
    const meaning = means[choice];
    return meaning === undefined ? [] : [`${oneLine(choice)}: ${oneLine(meaning)}`];
  });
  return told.length === 0 ? [] : ["", ...told];
};

const gateData = (gate: OpenGate, reveal: boolean) => ({
  ...gate,
  address: `${gate.runId}:${gate.gate}`,
  show: shownValue(gate.show, reveal) ?? null,
  since: iso(gate.since),
  until: gate.until === null ? null : iso(gate.until),
});
