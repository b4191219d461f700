import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import type { Documents, DocumentWrite, StoredDocument } from "../store/documents.ts";
import { parseHead } from "./proof/checkpoint.ts";
import { type Leaf, leafText, originOf, parseLeaf } from "./proof/leaf.ts";
import { GrowingTree, leafHash } from "./proof/merkle.ts";

export interface AuditDeps {
  readonly store: Store;
  /** The store's time. */
  readonly now: () => Promise<number>;
  /** A random text that was never used before. */
  readonly newId: () => string;
}

/** What a leaf says, before it has its place in the log. */
export type LeafDraft = Omit<Leaf, "v" | "index" | "at">;

/** Leaves that were appended together, and how far the store's changes were looked at by then. */
interface Batch {
  readonly leaves: readonly string[];
  readonly position?: string;
}

/** A signed head as the store keeps it, with what is needed to go on from there. */
export interface KeptHead {
  readonly size: number;
  readonly note: string;
  readonly parts: readonly string[];
  readonly at: number;
  readonly position?: string;
}

const LEAVES = "audit.leaves";
const HEADS = "audit.heads";
const TIP = "audit.tip";
const TIP_KEY = "tip";

/** Batches per question: each holds at most 200 leaves. */
const PAGE = 20;
export const MOST_LEAVES = 200;

/** How often an append is tried again because other processes were faster. */
const MOST_TRIES = 100;

const keyOf = (number: number): string => String(number).padStart(15, "0");
const after = (number: number): { after?: string } => (number === 0 ? {} : { after: keyOf(number - 1) });

export const brokenLog = (problem: string): HoldfastError => new HoldfastError("HF-3204", { problem });

/**
 * The audit log of a store. Its leaves are documents named by the index of their first leaf, so an append is one write
 * that is accepted only if nobody else has written there: no leaf is lost, and none is there twice, whoever is killed.
 */
export class AuditLog {
  readonly #deps: AuditDeps;
  #tree = new GrowingTree();
  #origin = "";
  #position: string | null = null;
  #key: string | null = null;
  #head: KeptHead | null = null;
  #isOpen = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: AuditDeps) {
    this.#deps = deps;
  }

  /** False in a store that keeps no documents, and so no log. */
  get isPossible(): boolean {
    return this.#deps.store.documents !== undefined;
  }

  get #documents(): Documents {
    const { documents, name } = this.#deps.store;
    if (documents) return documents;
    throw new HoldfastError("HF-3206", { store: name });
  }

  /** The name of the log in its heads; empty before the first leaf. */
  get origin(): string {
    return this.#origin;
  }

  /** Up to where the store's changes are in the log. */
  get position(): string | null {
    return this.#position;
  }

  /** The key that counts now, as `name+id`. */
  get key(): string | null {
    return this.#key;
  }

  /** The newest head that this process knows. */
  get head(): KeptHead | null {
    return this.#head;
  }

  get size(): number {
    return this.#tree.size;
  }

  /** The tree as it is known here. */
  get tree(): GrowingTree {
    return this.#tree;
  }

  /** Reads what others have appended since. */
  async refresh(): Promise<void> {
    await this.#inTurn(() => this.#roll());
  }

  /**
   * Appends leaves, all of them or none. `drafts` is asked again whenever somebody else was faster; `null`: there is
   * nothing left to append. Returns the index of the first leaf.
   */
  async append(drafts: () => readonly LeafDraft[] | null, position?: string): Promise<number | null> {
    return this.#inTurn(async () => {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        await this.#roll();
        const wanted = drafts();
        if (wanted === null) return null;
        const index = await this.#write(wanted, position);
        if (index !== null) return index;
      }
      throw new HoldfastError("HF-3209", { tries: MOST_TRIES });
    });
  }

  async #write(wanted: readonly LeafDraft[], position: string | undefined): Promise<number | null> {
    const from = this.#tree.size;
    const at = await this.#deps.now();
    const opened: LeafDraft[] = from === 0 ? [{ act: "log_opened", log: this.#deps.newId() }] : [];
    const leaves = [...opened, ...wanted].map((draft, nth) =>
      leafText({ v: 1, index: from + nth, at, ...draft }),
    );
    // A batch without leaves would leave no room for the next one.
    if (leaves.length === 0) return from;
    const batch: Batch = { leaves, ...defined({ position }) };
    const put = { version: this.#deps.newId(), value: JSON.stringify(batch) };
    const [isTaken] = await this.#documents.write([{ kind: LEAVES, key: keyOf(from), expect: null, put }]);
    if (!isTaken) return null;
    this.#take(batch);
    return from + opened.length;
  }

  async #roll(): Promise<void> {
    if (!this.#isOpen) await this.#open();
    for (;;) {
      const page = await this.#documents.list(LEAVES, { limit: PAGE, ...after(this.#tree.size) });
      for (const document of page) {
        if (document.key !== keyOf(this.#tree.size))
          throw brokenLog(`leaf ${this.#tree.size} is missing, though there are later ones`);
        this.#take(batchIn(document));
      }
      if (page.length < PAGE) return;
    }
  }

  /** Goes on from the newest head that is known to be there, instead of reading all leaves. */
  async #open(): Promise<void> {
    const first = await this.#documents.read(LEAVES, keyOf(0));
    const tip = await this.#documents.read(TIP, TIP_KEY);
    if (first) this.#origin = originOf(parseLeaf(batchIn(first).leaves[0] ?? "")?.log ?? "");
    const size = tip ? Number((JSON.parse(tip.value) as { size?: unknown }).size) : 0;
    const found = first && size > 0 ? await this.#documents.read(HEADS, keyOf(size)) : null;
    if (found) this.#goOn(headIn(found));
    this.#isOpen = true;
  }

  #goOn(kept: KeptHead): void {
    const head = parseHead(kept.note);
    const tree = GrowingTree.of(kept.size, kept.parts);
    if (!head || !tree || head.size !== kept.size || !tree.root().equals(head.root))
      throw brokenLog(`the stored head of size ${kept.size} doesn't belong to its own parts`);
    const signer = head.note.signatures.at(-1);
    this.#tree = tree;
    this.#head = kept;
    this.#position = kept.position ?? null;
    this.#key = signer ? `${signer.name}+${signer.id}` : null;
  }

  #take({ leaves, position }: Batch): void {
    for (const text of leaves) {
      if (this.#tree.size === 0) this.#origin = originOf(parseLeaf(text)?.log ?? "");
      this.#tree.add(leafHash(text));
      if (text.includes('"act":"key_announced"'))
        this.#key = parseLeaf(text)?.key?.split("+").slice(0, 2).join("+") ?? this.#key;
    }
    if (position !== undefined) this.#position = position;
  }

  /** Keeps a signed head of the tree as it is here. One of the same size that somebody else has signed stays. */
  async keep(note: string): Promise<KeptHead> {
    const { size, parts } = this.#tree;
    const at = await this.#deps.now();
    const head: KeptHead = { size, note, parts, at, ...defined({ position: this.#position ?? undefined }) };
    const kept = { version: this.#deps.newId(), value: JSON.stringify(head) };
    const [isOwn] = await this.#documents.write([
      { kind: HEADS, key: keyOf(size), expect: null, put: kept },
      ...(await this.#tipAt(size)),
    ]);
    const stored = isOwn === true ? null : await this.#documents.read(HEADS, keyOf(size));
    this.#head = stored ? headIn(stored) : head;
    return this.#head;
  }

  /** Only a hint where to begin: if it isn't moved, the next process reads a few leaves more. */
  async #tipAt(size: number): Promise<readonly DocumentWrite[]> {
    const tip = await this.#documents.read(TIP, TIP_KEY);
    const known = tip ? Number((JSON.parse(tip.value) as { size?: unknown }).size) : 0;
    if (known >= size) return [];
    const put = { version: this.#deps.newId(), value: JSON.stringify({ size }) };
    return [{ kind: TIP, key: TIP_KEY, expect: tip?.version ?? null, put }];
  }

  /** The newest head in the store, whoever has signed it. */
  async newestHead(): Promise<KeptHead | null> {
    const from = this.#head ? this.#head.size + 1 : 0;
    for await (const head of this.heads(from)) this.#head = head;
    return this.#head;
  }

  /** The head of this size, if one was signed. */
  async headOf(size: number): Promise<KeptHead | null> {
    const found = await this.#documents.read(HEADS, keyOf(size));
    return found && headIn(found);
  }

  /** All heads from this size on, smallest first. */
  async *heads(from = 0): AsyncGenerator<KeptHead, void, undefined> {
    for (let at = from; ; ) {
      const page = await this.#documents.list(HEADS, { limit: PAGE * 10, ...after(at) });
      for (const document of page) yield headIn(document);
      const last = page.at(-1);
      if (!last || page.length < PAGE * 10) return;
      at = Number(last.key) + 1;
    }
  }

  /** The texts of all leaves, in order, a batch at a time. */
  async *leaves(): AsyncGenerator<readonly string[], void, undefined> {
    for (let at = 0; ; ) {
      const page = await this.#documents.list(LEAVES, { limit: PAGE, ...after(at) });
      for (const document of page) yield batchIn(document).leaves;
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      at = Number(last.key) + 1;
    }
  }

  /** The leaves of the batches that begin in a range of indexes, newest first. */
  async window(from: number, to: number): Promise<readonly Leaf[]> {
    const found: Leaf[] = [];
    for (let at = from; at < to; ) {
      const page = await this.#documents.list(LEAVES, { limit: PAGE, ...after(at) });
      const own = page.filter(({ key }) => Number(key) < to);
      for (const document of own)
        found.push(...batchIn(document).leaves.flatMap((text) => parseLeaf(text) ?? []));
      const last = own.at(-1);
      if (!last || own.length < PAGE) break;
      at = Number(last.key) + 1;
    }
    return found.toReversed();
  }

  /** One after the other: two appends of one process needn't refuse each other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work, work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

function batchIn({ key, value }: StoredDocument): Batch {
  const batch = JSON.parse(value) as Partial<Batch> | null;
  if (Array.isArray(batch?.leaves) && batch.leaves.every((leaf) => typeof leaf === "string"))
    return batch as Batch;
  throw brokenLog(`the leaves from ${Number(key)} on aren't in the format of the log`);
}

function headIn({ key, value }: StoredDocument): KeptHead {
  const head = JSON.parse(value) as Partial<KeptHead> | null;
  if (typeof head?.note === "string" && Array.isArray(head.parts) && head.size === Number(key))
    return head as KeptHead;
  throw brokenLog(`the stored head of size ${Number(key)} isn't in the format of the log`);
}
