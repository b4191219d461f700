/** docs/reference/*.md, made from the exports of the package and their doc comments. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Declared, exportsOf } from "./api-source.ts";
import { code, GENERATED, page, ROOT, table } from "./text.ts";

/** What each path is for. A path without a line here fails the test. */
const PURPOSE: Readonly<Record<string, string>> = {
  ".": "Workflows, the engine and everything a workflow function uses.",
  "./manage":
    "Types and functions for tools that work on stored runs: plans, forks, reports, retention, transfer.",
  "./stores": "Open any store by its URL.",
  "./stores/memory": "A store in memory, for tests.",
  "./stores/sqlite": "The default store: one file, no server.",
  "./stores/file": "A folder of readable JSON files, for one process.",
  "./stores/postgres": "PostgreSQL, for teams and many workers.",
  "./stores/pglite": "PostgreSQL inside your process.",
  "./stores/redis": "Redis, a fast shared store.",
  "./stores/tiered": "A primary store with a Redis cache in front of its reads.",
  "./stores/dynamodb": "DynamoDB, on AWS.",
  "./security": "Encryption, compression, secrets and content checks.",
  "./observe": "Traces, metrics and logs.",
  "./notify": "Channels for notifications: webhooks, Slack, logs.",
  "./yaml": "Workflow files in YAML.",
  "./config": "Typed configuration for the command line.",
  "./testing": "Fake clock, faulty store, conformance suite, witness and crash tests.",
  "./agent": "The durable model-and-tools loop.",
  "./team": "Teams of agents with subtasks or phases.",
  "./dag": "Tasks with dependencies, executed in layers.",
  "./adapters/ai-sdk": "Durable AI SDK agents, and models of the AI SDK for other agents.",
  "./adapters/langgraph": "LangGraph threads as runs.",
  "./adapters/mastra": "Mastra's workflow runs and the memory of its agents as runs.",
  "./adapters/mcp": "Tools of MCP servers.",
  "./adapters/openai-agents": "Durable agents and sessions of the OpenAI Agents SDK.",
  "./adapters/temporal": "The same engine on a Temporal server.",
  "./adapters/temporal/interpreter": "Workflow files, DAGs and agents inside the sandbox of Temporal.",
  "./server": "The management API as a server.",
  "./client": "A typed client of the management API.",
};

interface ExportPath {
  /** As in package.json: `./stores/sqlite`. */
  readonly subpath: string;
  readonly specifier: string;
  /** The page's name below docs/reference. */
  readonly slug: string;
  readonly file: string;
}

function exportPaths(): readonly ExportPath[] {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
    exports: Record<string, string | { default: string }>;
  };
  return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    if (typeof target === "string") return [];
    const source = target.default.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts");
    return [
      {
        subpath,
        specifier: `holdfast${subpath.slice(1)}`,
        slug: subpath === "." ? "holdfast" : subpath.slice(2).replaceAll("/", "-"),
        file: path.join(ROOT, source),
      },
    ];
  });
}

/** The pages by their path in the repository. */
export function apiReference(): ReadonlyMap<string, string> {
  const paths = exportPaths();
  const pages = new Map(paths.map((one) => [`docs/reference/${one.slug}.md`, pageOf(one)]));
  pages.set("docs/reference/index.md", indexOf(paths));
  return pages;
}

function purposeOf({ subpath, specifier }: ExportPath): string {
  const purpose = PURPOSE[subpath];
  if (purpose === undefined)
    throw new Error(`scripts/docs/api-reference.ts doesn't say what ${specifier} is for.`);
  return purpose;
}

function indexOf(paths: readonly ExportPath[]): string {
  return page(
    GENERATED,
    "# TypeScript API",
    "Everything the package exports, by import path. The text comes from the doc comments, so your editor shows the same. Drivers load when you open a store, and a missing one is named.",
    table(
      ["import", "for"],
      paths.map((one) => [`[${code(one.specifier)}](${one.slug}.md)`, purposeOf(one)]),
    ),
  );
}

const SECTIONS = [
  ["Functions and classes", ["function", "class", "value"]],
  ["Types", ["type"]],
] as const;

function pageOf(one: ExportPath): string {
  const declared = merged(exportsOf(one.file));
  const sections = SECTIONS.flatMap(([title, kinds]) => {
    const found = declared.filter(({ kind }) => (kinds as readonly string[]).includes(kind));
    return found.length === 0 ? [] : [`## ${title}`, ...found.map(entryOf)];
  });
  return page("---\noutline: [2, 3]\n---", GENERATED, `# ${one.specifier}`, purposeOf(one), ...sections);
}

/** Overloads of one function become one entry. */
function merged(declared: readonly Declared[]): readonly Declared[] {
  const byName = new Map<string, Declared>();
  for (const one of declared) {
    const before = byName.get(one.name);
    if (!before) byName.set(one.name, one);
    else if (before.kind === "function" && one.kind === "function")
      byName.set(one.name, { ...before, signature: `${before.signature}\n${one.signature}` });
  }
  return [...byName.values()].sort((one, other) => one.name.localeCompare(other.name, "en"));
}

function entryOf({ name, signature, doc }: Declared): string {
  const [text = "", ...examples] = doc.split(/^@example[ \t]*/m);
  return page(
    `### ${name}`,
    prose(text),
    `\`\`\`typescript\n${unlinked(signature)}\n\`\`\``,
    ...examples.map((example) => `**Example**\n\n${example.trim()}`),
  ).trim();
}

/** A doc comment as Markdown: links to symbols become code, and angle brackets outside of code are text. */
const prose = (doc: string): string =>
  doc
    .replace(/\{@link (\w[\w.]*)\}/g, "`$1`")
    .split(/(`[^`]*`|```[\s\S]*?```)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/</g, "&lt;")))
    .join("")
    .trim();

/** Comments inside code show the names that they link to. */
const unlinked = (text: string): string => text.replace(/\{@link (\w[\w.]*)\}/g, "$1").trim();
