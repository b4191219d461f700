import { digest } from "../../hash.ts";
import { replaceUnseen } from "../../values/unseen.ts";
import { STYLE } from "./html-style.ts";
import type { Block, Fact, Page, Section, Table, Verdict } from "./page.ts";

/** The hash by which the page's own policy, and that of a server, lets its one style through. It has no script. */
export const EVIDENCE_STYLE = `'sha256-${base64(digest(STYLE))}'`;

const POLICY = `default-src 'none'; style-src ${EVIDENCE_STYLE}; base-uri 'none'; form-action 'none'`;

/**
 * A page as one HTML file to read and to print: it loads nothing, has no script, and what runs, models and people wrote
 * is text in it.
 */
export function toHtml(page: Page): string {
  const contents = page.sections.map(({ id, title }) => `<li><a href="#${id}">${text(title)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${text(page.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<p class="brand">Holdfast evidence</p>
<h1>${text(page.title)}</h1>
<p class="lead">${text(page.subtitle)}</p>
</header>
<main>
<section aria-label="Summary">
<ul class="verdicts">${page.verdicts.map((one) => `<li>${verdict(one)}</li>`).join("")}</ul>
${facts(page.facts)}
</section>
<nav aria-label="Contents"><ol>${contents.join("")}</ol></nav>
${page.sections.map(section).join("\n")}
</main>
</body>
</html>
`;
}

function section({ id, title, lead, blocks }: Section): string {
  return `<section aria-labelledby="${id}">
<h2 id="${id}">${text(title)}</h2>
<p class="lead">${text(lead)}</p>
${blocks.map(block).join("\n")}
</section>`;
}

function block(one: Block): string {
  switch (one.kind) {
    case "verdict":
      return `<p class="judged">${verdict(one.verdict)}</p>`;
    case "facts":
      return facts(one.facts);
    case "list":
      return `<ul>${one.items.map((item) => `<li>${text(item)}</li>`).join("")}</ul>`;
    case "text":
      return `<p>${text(one.text)}</p>`;
    case "table":
      return table(one);
  }
}

const WORDS: Readonly<Record<Verdict["tone"], readonly [sign: string, word: string]>> = {
  good: ["✓", "Good"],
  bad: ["✗", "Problem"],
  open: ["–", "Open"],
};

function verdict({ tone, text: said }: Verdict): string {
  const [sign, word] = WORDS[tone];
  return `<span class="verdict ${tone}"><span class="sign" role="img" aria-label="${word}">${sign}</span> ${text(said)}</span>`;
}

function facts(all: readonly Fact[]): string {
  if (all.length === 0) return "";
  const rows = all.map(
    ([label, said, look]) =>
      `<div><dt>${text(label)}</dt><dd>${look === "code" ? `<code>${text(said)}</code>` : text(said)}</dd></div>`,
  );
  return `<dl>${rows.join("")}</dl>`;
}

/** A wide table scrolls by itself, so it can be focused. */
function table({ caption, columns, rows, empty }: Table): string {
  if (rows.length === 0) return `<p class="empty">${text(empty)}</p>`;
  const head = columns.map(({ title, look }) => `<th scope="col"${classOf(look)}>${text(title)}</th>`);
  const body = rows.map((cells) => {
    const own = cells.map((cell, at) => {
      const look = columns[at]?.look;
      const shown = look === "code" && cell !== "" ? `<code>${text(cell)}</code>` : text(cell);
      return `<td${classOf(look)}>${shown}</td>`;
    });
    return `<tr>${own.join("")}</tr>`;
  });
  return `<div class="table" role="region" aria-label="${text(caption)}" tabindex="0"><table>
<caption>${text(caption)}</caption>
<thead><tr>${head.join("")}</tr></thead>
<tbody>${body.join("\n")}</tbody>
</table></div>`;
}

const classOf = (look: string | undefined): string => (look === undefined ? "" : ` class="${look}"`);

const SPECIAL: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const text = (said: string): string =>
  replaceUnseen(said, () => "�").replace(/[&<>"']/g, (one) => SPECIAL[one] ?? one);

/** The digest as a policy writes it. */
function base64(url: string): string {
  return `${url.replaceAll("-", "+").replaceAll("_", "/")}=`;
}
