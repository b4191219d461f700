import { NO_TAGS, tagsOf } from "../../core/tags.ts";
import type { RunIdentity, RunTags } from "../../core/types.ts";
import { texts } from "./commands.ts";
import { allBuckets, type Bucket, bucketOf, taggedLists } from "./keys.ts";
import { placesOf, type Reading } from "./listing.ts";
import { COUNT, MEND, MISSING } from "./scripts.ts";

/** How many keys one step of a walk examines. */
const STEP = 250;
/** Every tenth query for due runs advances the walk by one step. */
const EVERY = 10;

/** A part of the keys that is walked on its own: a whole server, or one bucket of a cluster. */
interface Part {
  readonly key: string;
  readonly pattern: string;
}

/**
 * The lists are derived from the rows. A run that is missing from one, because someone removed it or the server lost
 * it, is restored from its row. Workers walk through the rows continuously, a few at a time; when the counts of the
 * lists disagree, listing runs repairs them first.
 */
export class Lists {
  readonly #told: (runs: number) => void;
  /** The counts of each bucket's lists when they were last repaired. */
  readonly #mended = new Map<string, string>();
  #mayWalk = true;
  #asked = 0;
  #part = 0;
  #cursor = "0";

  constructor(told: (runs: number) => void) {
    this.#told = told;
  }

  /** Called with every query for due runs. */
  async walk(from: Reading): Promise<void> {
    if (this.#asked++ % EVERY === 0) await this.#ifAllowed(() => this.#step(from));
  }

  async #step(from: Reading): Promise<void> {
    const parts = partsOf(from);
    const part = parts[this.#part % parts.length] as Part;
    const { cursor, ids } = await step(from, part, this.#cursor);
    if (cursor === "0") this.#part = (this.#part + 1) % parts.length;
    this.#cursor = cursor;
    this.#tell(await repair(from, ids, true));
  }

  /** Called before runs are listed. */
  async addUp(from: Reading): Promise<void> {
    const odd = await Promise.all(allBuckets(from.layout).map((bucket) => this.#isOdd(from, bucket)));
    if (odd.includes(true)) await this.#ifAllowed(() => this.#all(from));
  }

  async #all(from: Reading): Promise<void> {
    for await (const ids of everyRow(from)) this.#tell(await repair(from, ids, true));
    await Promise.all(allBuckets(from.layout).map((bucket) => this.#note(from, bucket)));
  }

  /** Some users may not scan a server's keys, or may not write: others then do the repair. */
  async #ifAllowed(work: () => Promise<void>): Promise<void> {
    if (!this.#mayWalk) return;
    try {
      await work();
    } catch (error) {
      if (!String((error as Error).message).startsWith("NOPERM")) throw error;
      this.#mayWalk = false;
    }
  }

  /** Counts runs that are missing from a list, without changing anything. */
  async missing(from: Reading): Promise<number> {
    let missing = 0;
    for await (const ids of everyRow(from)) missing += await repair(from, ids, false);
    return missing;
  }

  async #isOdd(from: Reading, bucket: Bucket): Promise<boolean> {
    const [all, sum] = await counts(from, bucket);
    return all !== sum && this.#mended.get(bucket.mark) !== `${all} ${sum}`;
  }

  async #note(from: Reading, bucket: Bucket): Promise<void> {
    this.#mended.set(bucket.mark, (await counts(from, bucket)).join(" "));
  }

  #tell(runs: number): void {
    if (runs > 0) this.#told(runs);
  }
}

const counts = async ({ commands }: Reading, bucket: Bucket): Promise<readonly (string | null)[]> =>
  texts(await commands.run(COUNT, [bucket.all, ...placesOf(bucket)], []));

function partsOf({ commands, layout }: Reading): readonly Part[] {
  const of = (key: string, number: string): Part => ({ key, pattern: `{${layout.prefix}.${number}}run:*` });
  const buckets = allBuckets(layout);
  return commands.isCluster
    ? buckets.map(({ mark }, number) => of(mark, String(number)))
    : [of(buckets[0]?.mark ?? "", "*")];
}

async function* everyRow(from: Reading): AsyncGenerator<readonly string[]> {
  for (const part of partsOf(from))
    for (let cursor = "0"; ; ) {
      const next = await step(from, part, cursor);
      yield next.ids;
      cursor = next.cursor;
      if (cursor === "0") break;
    }
}

/** The ids of the rows among the next keys, and the cursor to continue at; "0" at the end. */
async function step(
  { commands, layout }: Reading,
  { key, pattern }: Part,
  cursor: string,
): Promise<{ readonly cursor: string; readonly ids: readonly string[] }> {
  const args = ["SCAN", cursor, "MATCH", pattern, "COUNT", String(STEP), "TYPE", "hash"];
  const reply = await commands.send(key, args);
  const [next, keys] = Array.isArray(reply) ? reply : [];
  const ids = texts(keys).flatMap((one) => {
    const id = one?.slice(one.indexOf("}run:") + "}run:".length) ?? "";
    // A key of this form that belongs to another program is ignored.
    return bucketOf(layout, id).run(id)[0] === one ? [id] : [];
  });
  return { cursor: String(next ?? "0"), ids };
}

/** Counts these runs' missing places in the lists that their rows call for, and restores them on request. */
async function repair(from: Reading, ids: readonly string[], isMended: boolean): Promise<number> {
  const found = await Promise.all(ids.map((id) => repairOne(from, id, isMended)));
  return found.filter(Boolean).length;
}

async function repairOne({ commands, layout }: Reading, id: string, isMended: boolean): Promise<boolean> {
  const bucket = bucketOf(layout, id);
  const [row] = bucket.run(id);
  const [workflow, where, identity, lane] = texts(
    await commands.send(row, ["HMGET", row, "workflow", "place", "identity", "lane"]),
  );
  if (typeof workflow !== "string" || typeof where !== "string") return false;
  const { parent, tags } = kinIn(identity ?? "");
  const keys = [
    row,
    ...bucket.wakes(lane ?? workflow),
    bucket.all,
    bucket.of(workflow),
    bucket.at(where),
    bucket.ofAt(workflow, where),
    ...(parent === undefined ? [] : [bucket.under(parent)]),
    ...taggedLists(bucket, tags),
  ];
  return Number(await commands.run(isMended ? MEND : MISSING, keys, [id, workflow, where])) > 0;
}

/** The run's parent and tags. An unreadable row is reported as damage to the caller that asks for it. */
function kinIn(identity: string): { readonly parent?: string; readonly tags: RunTags } {
  try {
    const { parent, ...said } = JSON.parse(identity) as Partial<RunIdentity>;
    const tags = tagsOf({ ...NO_TAGS, ...said });
    return { tags, ...(typeof parent?.runId === "string" ? { parent: parent.runId } : {}) };
  } catch {
    return { tags: NO_TAGS };
  }
}
