import { defined } from "../../core/defined.ts";
import { hasText, narrowed, type RunSearch, wantedBy } from "../../core/manage/status/find-runs.ts";
import type { RunQuery, Store } from "../../core/store/contract.ts";
import { everyRun } from "../../core/store/query.ts";
import { RUN_STATUSES, type RunRow, type RunStatus } from "../../core/types.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { coarse, oneLine } from "../format.ts";
import { usage } from "../globals.ts";
import type { Outcome } from "../outcome.ts";
import { LiveBlock } from "../view/live-block.ts";
import { readCount, readSince, type Since } from "../view/parsers.ts";
import { doneOf, itemData, originOf, type RunItem, RunItems } from "../view/run-rows.ts";
import { saveView, type Viewed, viewNamed } from "../view/saved-views.ts";
import { costWord } from "../view/spending.ts";
import { badge, spoken, stalledSince, standingOf } from "../view/standing.ts";
import { type Column, roomOf, table } from "../view/table.ts";
import { watching } from "../view/watch.ts";

const LIMIT = 50;
const PAGE = 200;
const WATCH_MS = 1_000;

interface Filters extends Viewed {
  readonly since: Since | undefined;
  /** That of a saved view. */
  readonly search: RunSearch;
  readonly stalled: boolean;
  readonly error: string | undefined;
  readonly limit: number | undefined;
}

/** `holdfast list`: runs newest first, what each does or waits for, and which of them need a person. */
export const command = defineCommand({
  name: "list",
  summary: "List runs, newest first, with what they do or wait for",
  args: ["[workflow]"],
  options: {
    status: {
      flag: "--status <status>",
      summary: "Only runs with this status",
      choices: RUN_STATUSES,
      list: true,
    },
    workflow: { flag: "--workflow <name>", summary: "Only runs of this workflow" },
    name: { flag: "--name <name>", summary: "Only runs of this name" },
    label: { flag: "--label <k=v>", summary: "Only runs with this label", list: true },
    queue: { flag: "--queue <queue>", summary: "Only runs of this queue" },
    text: { flag: "--text <text>", summary: "Only runs with this in their id, name, key, labels or error" },
    since: {
      flag: "--since <time>",
      summary: "Only runs started since then, such as 2h, 7d or a date",
      parse: readSince,
    },
    needsMe: { flag: "--needs-me", summary: "Only runs that need you: waiting, failed or stalled" },
    stalled: { flag: "--stalled", summary: "Only runs that could continue but have no live worker" },
    error: { flag: "--error <text>", summary: "Only runs whose error contains this text" },
    view: { flag: "--view <name>", summary: "Only runs of a saved view" },
    saveView: { flag: "--save-view <name>", summary: "Save these filters as a view, for the dashboard too" },
    limit: { flag: "--limit <n>", summary: `Show at most this many (default ${LIMIT})`, parse: readCount },
    watch: { flag: "--watch", summary: "Refresh every second until Ctrl-C" },
  },
  examples: ["list --needs-me", "list --status failed --since 2h", "list reconcile --limit 5"],
  async run(context) {
    const { args, options } = context;
    const [named] = args;
    if (named !== undefined && options.workflow !== undefined)
      throw usage(
        "two workflows are given",
        "Name the workflow as an argument or with --workflow, not both.",
        `holdfast list ${named}`,
      );
    const { watch: isWatched, view, saveView: viewName, ...given } = options;
    const filters: Filters = {
      ...given,
      workflow: named ?? options.workflow,
      search: await viewNamed(context, view),
    };
    const { since, stalled, error } = filters;
    if (viewName !== undefined) await saveView(context, viewName, filters, { since, stalled, error, view });
    return isWatched ? watch(context, filters) : look(context, filters);
  },
});

interface Found {
  readonly items: readonly RunItem[];
  /** True when `limit` left runs out. */
  readonly more: boolean;
}

async function look(context: CommandContext<unknown>, filters: Filters): Promise<Outcome> {
  const found = await find(await context.store(), filters);
  if (context.globals.jsonl) {
    for (const item of found.items) context.out.record({ type: "run", ...itemData(item) });
    return { data: { count: found.items.length, more: found.more } };
  }
  const data = { runs: found.items.map(itemData), more: found.more };
  return { data, text: textOf(context, found, filters, await now(context)), next: nextOf(found) };
}

const now = async (context: CommandContext<unknown>): Promise<number> => (await context.store()).now();

async function watch(context: CommandContext<unknown>, filters: Filters): Promise<Outcome> {
  const { host, out } = context;
  const store = await context.store();
  const block = host.stdout.isTTY && !out.isJson ? new LiveBlock(host.stdout) : undefined;
  let found: Found = { items: [], more: false };
  let before = "";
  const seen = new Map<string, number>();
  await watching(host, WATCH_MS, async () => {
    found = await find(store, filters);
    const text = textOf(context, found, filters, await store.now());
    if (block) block.draw(out.plain(text).split("\n"));
    else if (!out.isJson && text !== before) host.stdout.write(out.plain(`${text}\n`));
    before = text;
    for (const item of found.items) {
      if (seen.get(item.row.id) !== item.row.seq) out.record({ type: "run", ...itemData(item) });
      seen.set(item.row.id, item.row.seq);
    }
    return true;
  });
  block?.end();
  return { data: { count: found.items.length, more: found.more }, ...(block ? { text: before } : {}) };
}

async function find(store: Store, filters: Filters): Promise<Found> {
  const at = await store.now();
  const limit = filters.limit ?? LIMIT;
  const items: RunItem[] = [];
  const fill = new RunItems(store, at);
  for await (const row of rows(store, filters, at)) {
    if (items.length === limit) return { items, more: true };
    const item = await fill.of(row);
    if (!filters.needsMe || item.standing.needsYou) items.push(item);
  }
  return { items, more: false };
}

/** Matching rows, page by page on demand. The row is checked before anything else is read. */
async function* rows(store: Store, filters: Filters, at: number): AsyncGenerator<RunRow> {
  const { workflow, name, queue, label, search } = filters;
  const {
    text: _,
    not,
    needsYou,
    where: __,
    limit: ___,
    cursor: ____,
    errorGroup: _____,
    labels: viewed = {},
    ...saved
  } = search;
  const status = statuses(filters);
  const labels = [...Object.entries(viewed), ...(label ?? []).map(readLabel)];
  const given = defined({ status, workflow, name, queue, createdAfter: filters.since?.(at) });
  const query = narrowed({ ...saved, ...given }, not, needsYou);
  if (query === null) return;
  const isWanted = wantedBy(search, at);
  const suits = (row: RunRow): boolean => fits(row, filters, at) && isWanted(row);
  // The store finds labels with their values. Labels without one are looked for in each run.
  const exact = labels.filter((one): one is [string, string] => one[1] !== undefined);
  const isExact = labels.length > 0 && exact.length === labels.length;
  const wanted = isExact ? { ...query, labels: Object.fromEntries(exact) } : query;
  // A short first page is enough for most lists.
  for await (const row of everyRun(store, wanted, Math.min(PAGE, (filters.limit ?? LIMIT) + 1)))
    if (suits(row) && (isExact || (await hasLabels(store, row, labels)))) yield row;
  if (isExact) yield* labelledBefore(store, query, suits, labels);
}

/** How many of the newest runs are searched for labels of earlier versions. */
const MOST_EARLIER = 1_000;

/** Runs of earlier versions have their labels in their config. */
async function* labelledBefore(
  store: Store,
  query: Omit<RunQuery, "limit" | "cursor">,
  isWanted: (row: RunRow) => boolean,
  labels: readonly Label[],
): AsyncGenerator<RunRow> {
  let seen = 0;
  for await (const row of everyRun(store, query)) {
    if (seen++ >= MOST_EARLIER) return;
    const hasNone = Object.keys(row.labels).length === 0;
    if (hasNone && isWanted(row) && (await hasLabels(store, row, labels))) yield row;
  }
}

type Label = readonly [name: string, value: string | undefined];

function statuses({ status, needsMe, stalled, error }: Filters): readonly RunStatus[] | undefined {
  if (status) return status;
  if (stalled) return ["queued", "running", "waiting"];
  if (needsMe) return ["queued", "running", "waiting", "failed"];
  return error === undefined ? undefined : ["failed", "paused", "waiting"];
}

function fits(row: RunRow, { needsMe, stalled, error, text: wanted }: Filters, at: number): boolean {
  if (wanted !== undefined && !hasText(row, wanted)) return false;
  if (stalled && stalledSince(row, at) === null) return false;
  const standing = standingOf(row, at);
  if (needsMe && !standing.needsYou) return false;
  if (error === undefined) return true;
  const said = [row.error ?? "", standing.headline, ...row.waiting.map(({ detail = "" }) => detail)];
  return said.some((text) => text.toLowerCase().includes(error.toLowerCase()));
}

function readLabel(text: string): Label {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

async function hasLabels(store: Store, row: RunRow, wanted: readonly Label[]): Promise<boolean> {
  if (wanted.length === 0) return true;
  const { labels = {} } = await originOf(store, row);
  return wanted.every(([key, value]) => key in labels && (value === undefined || labels[key] === value));
}

const COLUMNS: readonly Column[] = [
  { title: "RUN", least: 12, isName: true },
  { title: "WORKFLOW", least: 8 },
  { title: "STATUS", least: 11 },
  { title: "DONE", align: "right", spare: true },
  { title: "AGE", align: "right", spare: true },
  { title: "COST", align: "right", spare: true },
  { title: "WHY / WAITING FOR", least: 17 },
  { title: "INPUT", least: 16, spare: true },
];

function textOf(
  context: CommandContext<unknown>,
  { items, more }: Found,
  filters: Filters,
  at: number,
): string {
  const { host, out } = context;
  if (items.length === 0) return empty(context, filters);
  const room = roomOf(host);
  const cells = items.map((item) => {
    const { row, standing, progress, origin, input } = item;
    return [
      origin.name ?? row.id,
      row.workflow,
      badge(standing, out.paint),
      doneOf(progress),
      coarse(Math.max(0, at - row.createdAt)),
      costWord(row.usage),
      whyOf(item, at),
      input,
    ];
  });
  const [head = "", ...lines] = table(COLUMNS, cells, { room });
  const rest = more ? [out.paint.dim("… more; see --limit, --since, --status")] : [];
  return [out.paint.dim(head), ...lines, ...rest].join("\n");
}

/** The sentence without what the status column already says. */
function whyOf({ standing, row }: RunItem, at: number): string {
  const { headline, stalledSince: since } = standing;
  const isPlain = headline === row.status || headline.startsWith("queued");
  const why = isPlain
    ? ""
    : spoken(headline, at).replace(
        /^(?:failed|paused|waiting|running|cancelled)(?:: | for | )(?:approval at gate )?/,
        "",
      );
  if (since === null) return oneLine(why);
  return oneLine(
    `no worker has it${row.status === "running" && why !== "" && why !== "running" ? `; was at ${why}` : ""}`,
  );
}

function empty(context: CommandContext<unknown>, filters: Filters): string {
  const { limit: _, workflow, search, ...rest } = filters;
  const isFiltered =
    workflow !== undefined ||
    Object.keys(search).length > 0 ||
    Object.entries(rest).some(([, value]) => value !== undefined && value !== false);
  if (filters.needsMe && workflow === undefined) return "✓ All quiet: no run needs you.";
  return isFiltered
    ? `No run matches. All of them: ${context.cli("list")}`
    : `No runs yet in ${context.where}.\nStart one: holdfast run <file.ts>, or see it work: holdfast demo`;
}

function nextOf({ items }: Found): string[] {
  const [first] = items.filter(({ standing }) => standing.needsYou);
  return first ? [`show ${first.row.id}`] : [];
}
