import { replaceUnseen } from "../../values/unseen.ts";
import type { Block, Fact, Page, Table, Verdict } from "./page.ts";

const SIGNS: Readonly<Record<Verdict["tone"], string>> = { good: "✓", bad: "✗", open: "–" };

/** A page as Markdown. What runs, models and people wrote stays text: it forms no links, no markup and no HTML. */
export function toMarkdown(page: Page): string {
  const lines = [
    `# ${plain(page.title)}`,
    "",
    plain(page.subtitle),
    "",
    ...page.verdicts.map((verdict) => `- ${judged(verdict)}`),
    "",
    ...facts(page.facts),
    ...page.sections.flatMap(({ title, lead, blocks }) => [
      `## ${plain(title)}`,
      "",
      plain(lead),
      "",
      ...blocks.flatMap(block),
    ]),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function block(one: Block): readonly string[] {
  switch (one.kind) {
    case "verdict":
      return [`**${judged(one.verdict)}**`, ""];
    case "facts":
      return facts(one.facts);
    case "list":
      return [...one.items.map((item) => `- ${plain(item)}`), ""];
    case "text":
      return [plain(one.text), ""];
    case "table":
      return table(one);
  }
}

function facts(all: readonly Fact[]): readonly string[] {
  if (all.length === 0) return [];
  const rows = all.map(([label, text, look]) =>
    row([plain(label), look === "code" ? code(text) : plain(text)]),
  );
  return ["| | |", "|---|---|", ...rows, ""];
}

function table({ caption, columns, rows, empty }: Table): readonly string[] {
  if (rows.length === 0) return [plain(empty), ""];
  const rule = columns.map(({ look }) => (look === "number" ? "---:" : "---"));
  const body = rows.map((cells) =>
    row(cells.map((cell, at) => (columns[at]?.look === "code" ? code(cell) : plain(cell)))),
  );
  return [`### ${plain(caption)}`, "", row(columns.map(({ title }) => plain(title))), row(rule), ...body, ""];
}

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const judged = ({ tone, text }: Verdict): string => `${SIGNS[tone]} ${plain(text)}`;

const seen = (text: string): string => replaceUnseen(text.replace(/\s+/g, " "), () => "�").trim();

/** Every character that Markdown or HTML would take for its own is escaped. */
const plain = (text: string): string => seen(text).replace(/[\\`*_[\]<>|~#&]/g, (one) => `\\${one}`);

/** A bar would end the cell even inside code. */
function code(text: string): string {
  const shown = seen(text).replaceAll("`", "´").replaceAll("|", "\\|");
  return shown === "" ? "" : `\`${shown}\``;
}
