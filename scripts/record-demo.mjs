/**
 * Records a real session of `holdfast demo` in a pseudo-terminal and draws it as an animated SVG: `npm run build && node
 * scripts/record-demo.mjs [docs/img/demo.svg]`. Each line appears when it was printed; programs that don't animate show all of it.
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const COLUMNS = 64;
const TYPED = "npx holdfast demo";

const [CELL, LINE, SIZE] = [8.43, 20, 14];
const [LEFT, TOP] = [20, 56];
/** How long the finished picture stays before it starts again. */
const REST_MS = 6_000;
const TYPING_MS = 600;

/** @typedef {{ at: number, text: string }} Printed a line with its colours, and when it was complete */

/**
 * Runs the demo in a pseudo-terminal of `script`, whose options differ between Linux and macOS.
 * @returns {Promise<Printed[]>}
 */
function record() {
  const main = path.join(ROOT, "dist/cli/main.js");
  const command = `stty cols ${COLUMNS} rows 40; "${process.execPath}" "${main}" demo`;
  const args =
    process.platform === "darwin"
      ? ["-q", "/dev/null", "sh", "-c", command]
      : ["-qefc", command, "/dev/null"];
  const began = performance.now();
  const child = spawn("script", args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TERM: "xterm-256color", NO_COLOR: undefined, CI: undefined },
  });
  /** @type {Printed[]} */
  const lines = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (data) => {
    const parts = `${rest}${data}`.split(/\r*\n/);
    rest = parts.pop() ?? "";
    for (const text of parts) lines.push({ at: performance.now() - began, text });
  });
  return new Promise((resolve, reject) =>
    child.on("close", (code) =>
      code === 0 ? resolve(lines) : reject(new Error(`the demo ended with ${code}`)),
    ),
  );
}

/** @type {Record<string, string>} */
const CLASSES = { 1: "b", 2: "d", 31: "r", 32: "g", 33: "y", 36: "c" };

/** The style in effect: a program may set it on one line and reset it on a later one. */
let style = "";

/** Parts of a line with the same style, each with its column. @param {string} text */
function* partsOf(text) {
  let column = 0;
  // oxlint-disable-next-line no-control-regex -- colours are control sequences
  for (const part of text.split(/(\u001b\[[\d;]*m)/)) {
    // oxlint-disable-next-line no-control-regex
    const code = /^\u001b\[([\d;]*)m$/.exec(part)?.[1];
    if (code !== undefined) style = CLASSES[code] ?? "";
    else if (part !== "") {
      // Leading blanks only move what follows.
      const shown = part.trimStart();
      if (shown !== "") yield { column: column + part.length - shown.length, style, text: shown };
      column += part.length;
    }
  }
}

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** @param {number} value */
const short = (value) => String(Math.round(value * 100) / 100);

/** @param {Printed} line @param {number} index */
function drawLine({ text }, index) {
  const spans = [...partsOf(text)].map(
    (part) =>
      `<tspan x="${short(LEFT + part.column * CELL)}"${part.style === "" ? "" : ` class="${part.style}"`}>${escaped(part.text)}</tspan>`,
  );
  return spans.length === 0
    ? ""
    : `<text y="${TOP + index * LINE}" class="l${index}">${spans.join("")}</text>`;
}

/** @param {readonly Printed[]} lines */
function draw(lines) {
  const total = (lines.at(-1)?.at ?? 0) + REST_MS;
  const width = Math.ceil(2 * LEFT + COLUMNS * CELL);
  const height = TOP + lines.length * LINE;
  const shows = lines.map(
    ({ at }, index) =>
      `@keyframes s${index}{0%{opacity:0}${short((100 * at) / total)}%,to{opacity:1}}.l${index}{animation-name:s${index}}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A recorded session of ${TYPED}">
<style>
text{font:${SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d5d9e0;white-space:pre;animation:${short(total / 1_000)}s step-end infinite}
.b{font-weight:700;fill:#fff}.d{fill:#8b93a1}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}.c{fill:#79c0ff}
${shows.join("\n")}
@media (prefers-reduced-motion:reduce){text{animation:none!important}}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
${lines
  .map(drawLine)
  .filter((line) => line !== "")
  .join("\n")}
</svg>
`;
}

const file = path.resolve(process.argv[2] ?? path.join(ROOT, "docs/img/demo.svg"));
const printed = await record();
const lines = printed.map(({ at, text }) => ({ at: at + TYPING_MS, text }));
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, draw([{ at: 0, text: `\u001b[2m$\u001b[0m ${TYPED}` }, ...lines]));
console.log(
  `${lines.length} lines in ${((printed.at(-1)?.at ?? 0) / 1_000).toFixed(1)} s → ${path.relative(ROOT, file)}`,
);
