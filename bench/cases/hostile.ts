import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { checkWorkflow } from "holdfast/yaml";
import { readAnswer } from "../../src/agent/json-answer.ts";
import { bound } from "../../src/yaml/output.ts";
import { condition, render } from "../../src/yaml/template/template.ts";
import { ANSWERS, FILES, SET_VALUES, TREES } from "../../test/data/hostile.ts";
import { CONDITIONS, TEMPLATE_DATA, TEMPLATES } from "../../test/data/hostile-templates.ts";
import type { CaseReport } from "../run.ts";
import { inFolder } from "../workbench.ts";

interface Measured {
  readonly text: string;
  readonly ms: number;
  /** The time that the processor spent on it, which other work on the machine hardly changes. */
  readonly cpuMs: number;
  /** The longest time in which nothing else of the process could work. */
  readonly blockedMs: number;
}

/** Other work on the machine only adds to a time, so the least of several is nearest to that of the text. */
const ROUNDS = 7;

function leastOf(text: string, times: readonly Measured[]): Measured {
  const least = (of: (one: Measured) => number): number => Math.min(...times.map(of));
  return {
    text,
    ms: least((one) => one.ms),
    cpuMs: least((one) => one.cpuMs),
    blockedMs: least((one) => one.blockedMs),
  };
}

/** How long texts take that were made to take long. */
export async function hostile(): Promise<CaseReport> {
  return inFolder(async (folder) => {
    const measured: Measured[] = [];
    for (const [text, work] of works(folder)) {
      // Once for the compiler, then measured.
      await time(text, work);
      const times: Measured[] = [];
      for (let n = 0; n < ROUNDS; n++) times.push(await time(text, work));
      measured.push(leastOf(text, times));
    }
    const slowest = measured.reduce((a, b) => (b.ms > a.ms ? b : a));
    const dearest = measured.reduce((a, b) => (b.cpuMs > a.cpuMs ? b : a));
    const blocking = measured.reduce((a, b) => (b.blockedMs > a.blockedMs ? b : a));
    return {
      figures: {
        "hostile texts": measured.length,
        [`ms, the slowest (${slowest.text})`]: slowest.ms,
        [`ms of CPU, the most (${dearest.text})`]: dearest.cpuMs,
        [`ms without a turn of the event loop, the longest (${blocking.text})`]: blocking.blockedMs,
      },
      goals: [
        { goal: "each ends within 100 ms", measured: slowest.ms, met: slowest.ms <= 100 },
        {
          goal: "none blocks for longer than 50 ms",
          measured: blocking.blockedMs,
          met: blocking.blockedMs <= 50,
        },
      ],
    };
  });
}

function* works(folder: string): Generator<readonly [string, () => unknown]> {
  for (const [name, text] of Object.entries(FILES)) yield [`file: ${name}`, () => checkWorkflow({ text })];
  for (const [index, [name, files]] of Object.entries(TREES).entries()) {
    const place = join(folder, String(index));
    mkdirSync(place);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text);
    yield [`files: ${name}`, () => checkWorkflow(join(place, "main.yaml"))];
  }
  for (const [name, text] of Object.entries(SET_VALUES))
    yield [`set: ${name}`, () => bound(text, "auto", "s")];
  for (const [name, text] of Object.entries(ANSWERS))
    yield [`answer: ${name}`, () => readAnswer(text, { type: "object", required: ["a"] })];
  for (const [name, text] of Object.entries(TEMPLATES))
    yield [`template: ${name}`, () => render(text, TEMPLATE_DATA, "here")];
  for (const [name, text] of Object.entries(CONDITIONS))
    yield [`condition: ${name}`, () => condition(text, TEMPLATE_DATA, "here")];
}

async function time(text: string, work: () => unknown): Promise<Measured> {
  let [blockedMs, last, isOver] = [0, 0, false];
  const watch = async (): Promise<void> => {
    for (last = performance.now(); !isOver; last = performance.now()) {
      await turn();
      blockedMs = Math.max(blockedMs, performance.now() - last);
    }
  };
  const watching = watch();
  await turn();
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  try {
    await work();
  } catch {
    // Being refused is one of the ways to end.
  }
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  await turn();
  isOver = true;
  await watching;
  return { text, ms, cpuMs: (user + system) / 1_000, blockedMs };
}
