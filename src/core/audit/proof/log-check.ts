import type { NotedHead } from "./checkpoint.ts";
import { announcement, type Leaf, originOf, parseLeaf } from "./leaf.ts";
import { GrowingTree, leafHash } from "./merkle.ts";
import { type NoteKey, parseNote, parsePublicKey, signersOf } from "./note.ts";

/** Something that isn't as it was signed. */
export interface AuditProblem {
  readonly kind: "leaf" | "key" | "head" | "anchor" | "run" | "bundle";
  /** The leaf, head, anchor or run. */
  readonly where: string;
  readonly problem: string;
}

/** Heads that were kept outside the store. */
export interface Anchor {
  readonly name: string;
  readonly heads: readonly NotedHead[];
}

/** A signed position of a run's journal. */
export interface SignedPosition {
  readonly index: number;
  readonly seq: number;
  readonly head: string;
}

/** A run as the log knows it. */
export interface SignedRun {
  readonly run: string;
  readonly created: number;
  readonly positions: SignedPosition[];
}

export interface LogCheckOptions {
  /** The public keys that you trust. None: the first key that the log announces, which is then only believed. */
  readonly keys: readonly NoteKey[];
  /** The heads that the store holds. */
  readonly heads: readonly NotedHead[];
  readonly anchors: readonly Anchor[];
}

/** A size of the log up to which something is proven, and the time of its last leaf. */
export interface ProvenSize {
  readonly size: number;
  readonly at: number;
  /** The key that has signed it, and the anchor that has it. */
  readonly by: string;
}

interface Announced {
  readonly index: number;
  readonly key: NoteKey;
  readonly replaces: string | null;
}

export const runKey = (run: string, created: number): string => `${created} ${run}`;

const nameOf = ({ name, id }: NoteKey): string => `${name}+${id}`;

/** Checks a log: the leaves in order, then every head over them. */
export class LogCheck {
  readonly problems: AuditProblem[] = [];
  readonly runs = new Map<string, SignedRun>();
  /** How often each act occurs. */
  readonly acts = new Map<string, number>();
  readonly #options: LogCheckOptions;
  readonly #tree = new GrowingTree();
  /** The root and the time at each size that a head is about. */
  readonly #wanted = new Map<number, { root: Buffer; at: number } | null>();
  readonly #announced: Announced[] = [];
  #origin = "";
  #trusted: NoteKey[];

  constructor(options: LogCheckOptions) {
    this.#options = options;
    this.#trusted = [...options.keys];
    for (const { size } of [...options.heads, ...options.anchors.flatMap(({ heads }) => heads)])
      this.#wanted.set(size, null);
    if (this.#wanted.has(0)) this.#wanted.set(0, { root: this.#tree.root(), at: 0 });
  }

  get origin(): string {
    return this.#origin;
  }

  get size(): number {
    return this.#tree.size;
  }

  /** The keys that the log has announced with a proof, and that are trusted. */
  get keys(): readonly NoteKey[] {
    return this.#trusted;
  }

  take(text: string): void {
    const index = this.#tree.size;
    this.#tree.add(leafHash(text));
    const leaf = parseLeaf(text);
    if (!leaf) this.#found("leaf", `leaf ${index}`, "It isn't in the format of the log.");
    else if (leaf.index !== index)
      this.#found("leaf", `leaf ${index}`, `It says that it is leaf ${leaf.index}.`);
    if (leaf) this.#read(leaf, index);
    if (this.#wanted.has(index + 1))
      this.#wanted.set(index + 1, { root: this.#tree.root(), at: leaf?.at ?? 0 });
  }

  #read(leaf: Leaf, index: number): void {
    this.acts.set(leaf.act, (this.acts.get(leaf.act) ?? 0) + 1);
    if (leaf.act === "run_head") this.#position(leaf, index);
    else if (leaf.act === "key_announced") this.#announce(leaf, index);
    else if (index === 0) this.#origin = originOf(leaf.log ?? "");
    if (index === 0 && leaf.act !== "log_opened")
      this.#found("leaf", "leaf 0", "A log begins with log_opened: its beginning is missing.");
  }

  #position({ run = "", created = 0, seq = 0, head = "" }: Leaf, index: number): void {
    const key = runKey(run, created);
    const known = this.runs.get(key) ?? { run, created, positions: [] };
    const last = known.positions.at(-1);
    if (last && (seq < last.seq || (seq === last.seq && head !== last.head)))
      this.#found("run", run, `Leaf ${index} puts it back from #${last.seq} to #${seq}.`);
    known.positions.push({ index, seq, head });
    this.runs.set(key, known);
  }

  /** A key counts if the one before it has signed its announcement; the first one must be trusted by the reader. */
  #announce(leaf: Leaf, index: number): void {
    const key = parsePublicKey(leaf.key ?? "");
    const note = parseNote(leaf.proof ?? "");
    const isAbout = key && note?.text === announcement(this.#origin, leaf.key ?? "");
    const before = this.#announced.at(-1);
    const signer = before?.key ?? key;
    const isSigned = isAbout && signer && (signersOf(note, [signer])?.length ?? 0) > 0;
    if (!isSigned) {
      this.#found("key", `leaf ${index}`, "A key is announced without the signature of the one before it.");
      return;
    }
    this.#announced.push({ index, key, replaces: before ? nameOf(before.key) : null });
    if (!before && this.#trusted.length === 0) this.#trusted = [key];
    else if (before && this.#trusts(before.key) && !this.#trusts(key)) this.#trusted.push(key);
  }

  #trusts(key: NoteKey): boolean {
    return this.#trusted.some((one) => nameOf(one) === nameOf(key) && one.bytes.equals(key.bytes));
  }

  /** Checks all heads, once every leaf was taken. */
  finish(): { readonly signed: ProvenSize | null; readonly anchored: ProvenSize | null } {
    const { heads, anchors } = this.#options;
    let signed: ProvenSize | null = null;
    let anchored: ProvenSize | null = null;
    for (const head of heads) {
      const proven = this.#check(head, "head", `head ${head.size}`);
      if (proven && proven.size >= (signed?.size ?? 0)) signed = proven;
    }
    for (const { name, heads: kept } of anchors)
      for (const head of kept) {
        const proven = this.#check(head, "anchor", `${name}, head ${head.size}`);
        if (proven && proven.size >= (anchored?.size ?? 0)) anchored = { ...proven, by: name };
      }
    const hasHeads = heads.length + anchors.flatMap((one) => one.heads).length > 0;
    if (hasHeads && !signed && !anchored && this.problems.length === 0)
      this.#found("key", "heads", "None of them is signed by a key that you trust.");
    return { signed: signed ?? anchored, anchored };
  }

  #check(head: NotedHead, kind: "head" | "anchor", where: string): ProvenSize | null {
    const found = (problem: string): null => this.#found(kind, where, problem);
    if (this.size > 0 && head.origin !== this.#origin)
      return found(`It is the head of another log (${head.origin}).`);
    const current = this.#announced.findLast(({ index }) => index < head.size)?.key;
    const signers = signersOf(head.note, current ? [current] : this.#trusted);
    if (!signers) return found("Its signature isn't valid.");
    const [signer] = signers;
    if (!signer) return found("It isn't signed by the key that counts there.");
    if (head.size > this.size)
      return found(
        `It was signed over ${head.size} leaves, and there are ${this.size}: leaves are missing, or this is an older copy.`,
      );
    const at = this.#wanted.get(head.size);
    if (!at || !at.root.equals(head.root)) return found("It was signed over leaves other than these.");
    // A head of a key that the reader doesn't know is as it was, but proves nothing to them.
    return this.#trusts(signer) ? { size: head.size, at: at.at, by: nameOf(signer) } : null;
  }

  #found(kind: AuditProblem["kind"], where: string, problem: string): null {
    this.problems.push({ kind, where, problem });
    return null;
  }
}
