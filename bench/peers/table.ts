import { median } from "../workbench.ts";
import type { Figures, Line } from "./rounds.ts";

/** Markdown: medians over the rounds. */
export function table(lines: readonly Line[]): string {
  const rows = [...lines].sort((a, b) => rank(a) - rank(b)).map(row);
  return [
    "| | store | 1 run: steps/s (p50/p95 ms) | 16 runs | 100 runs | bytes a step |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

/** Limits first, then by speed with one run. */
const rank = (line: Line): number =>
  line.missing !== undefined ? 0 : line.store === "" ? -Infinity : -(at(line, 1)?.perSec ?? 0);

function row(line: Line): string {
  const { name, store, missing, rounds } = line;
  if (missing !== undefined) return `| ${name} | ${store} | ${missing} | | | |`;
  const cells = [1, 16, 100].map((width) => cell(at(line, width)));
  const bytes = rounds.map((one) => one.bytes).find((one) => one !== undefined);
  return `| ${name} | ${store} | ${cells.join(" | ")} | ${bytes?.toLocaleString("en") ?? "–"} |`;
}

function at({ rounds }: Line, width: number): Figures | undefined {
  const found = rounds.map(({ levels }) => levels[width]).filter((one) => one !== undefined);
  if (found.length === 0) return undefined;
  const of = (field: keyof Figures): number => median(found.map((one) => one[field]));
  return { perSec: of("perSec"), p50: of("p50"), p95: of("p95") };
}

const cell = (found: Figures | undefined): string =>
  found ? `${Math.round(found.perSec).toLocaleString("en")} (${short(found.p50)}/${short(found.p95)})` : "–";

const short = (ms: number): string => (ms < 10 ? ms.toFixed(2) : ms.toFixed(0));
