import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import { digester } from "../../hash.ts";
import type { Blob, Entry } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";
import { ParseBudget, type ParseLimits } from "../../values/parse-budget.ts";
import { plainJson } from "../../values/unseen.ts";
import { measureJson } from "./measure-json.ts";

/**
 * Runs as text, to archive or to move to another store. One JSON object per line: first a header, then for each run its
 * row, its entries and its blobs exactly as stored, then the counts and the digest of every line before. Claims and key
 * material aren't part of it.
 */
const FORMAT = "holdfast-bundle";
/** Raised together with the journal's format; earlier versions can be read. */
const VERSION = 2;
const KNOWN: readonly unknown[] = [1, VERSION];

interface Header {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly runs: readonly string[];
  readonly createdAt: number;
  /** The incarnation of the store that it was taken from. */
  readonly incarnation: string;
}

interface Footer {
  readonly end: { readonly runs: number; readonly entries: number; readonly blobs: number };
  readonly digest: string;
  readonly signature?: string;
}

export type BundledRow = Omit<RunRow, "claim">;

export interface BundledRun {
  readonly row: BundledRow;
  readonly entries: readonly Entry[];
  readonly blobs: ReadonlyMap<string, string>;
}

/** The error for a refused bundle. Nothing of it was written. */
export const refusedBundle = (problem: string, cause?: unknown): HoldfastError =>
  new HoldfastError("HF-3017", { problem }, defined({ cause }));

/** Produces the lines of a bundle, each with its line break. */
export class BundleWriter {
  readonly #sum = digester();
  readonly #counts = { runs: 0, entries: 0, blobs: 0 };

  #line(content: object): string {
    const line = `${plainJson(JSON.stringify(content))}\n`;
    this.#sum.add(line);
    return line;
  }

  header(about: Pick<Header, "runs" | "createdAt" | "incarnation">): string {
    const { runs, createdAt, incarnation } = about;
    return this.#line({ format: FORMAT, version: VERSION, runs, createdAt, incarnation } satisfies Header);
  }

  run({ claim: _, ...run }: RunRow): string {
    this.#counts.runs++;
    return this.#line({ run });
  }

  entry({ seq, count, head, data }: Entry): string {
    this.#counts.entries++;
    return this.#line({ entry: { seq, count, head, data } });
  }

  blob({ hash, data }: Blob): string {
    this.#counts.blobs++;
    return this.#line({ blob: { hash, data } });
  }

  async end(sign?: (digest: string) => string | Promise<string>): Promise<string> {
    const digest = this.#sum.end();
    const signature = sign && (await sign(digest));
    const footer: Footer = { end: this.#counts, digest, ...defined({ signature }) };
    return `${JSON.stringify(footer)}\n`;
  }
}

export type Verify = (digest: string, signature: string) => boolean | Promise<boolean>;

export interface ReadOptions {
  readonly maxLength: number;
  /** The bundle is refused unless this accepts its signature. */
  readonly verify?: Verify | undefined;
  /** Decides whether a signature is trusted. */
  readonly trust?: Verify | undefined;
}

/** A complete bundle. Its runs are checked elsewhere. */
export interface Bundle {
  readonly runs: readonly BundledRun[];
  readonly digest: string;
  /** The incarnation of the store that it claims to be from. */
  readonly from: string;
  /** True when its signature is trusted here. */
  readonly isTrusted: boolean;
}

/** Reads a bundle to its end and checks its form, its digest and its signature. */
export async function readBundle(
  text: AsyncIterable<string>,
  { maxLength, verify, trust }: ReadOptions,
): Promise<Bundle> {
  const reader = new BundleReader();
  for await (const line of linesOf(text, maxLength)) reader.take(line);
  const { runs, digest, from, signature } = reader.end();
  if (verify && signature === undefined) throw refusedBundle("is not signed");
  const check = async (by: Verify | undefined): Promise<boolean> =>
    by !== undefined && signature !== undefined && (await isSigned(by, digest, signature));
  const isVerified = await check(verify);
  if (verify && !isVerified) throw refusedBundle("has a signature that does not fit");
  return { runs, digest, from, isTrusted: isVerified || (await check(trust)) };
}

async function isSigned(by: Verify, digest: string, signature: string): Promise<boolean> {
  try {
    return (await by(digest, signature)) === true;
  } catch (error) {
    throw refusedBundle("has a signature that could not be checked", error);
  }
}

/** The text may be split anywhere. Each line is returned with its line break. */
async function* linesOf(text: AsyncIterable<string>, maxLength: number): AsyncGenerator<string> {
  let length = 0;
  let parts: string[] = [];
  for await (const piece of text) {
    if (typeof piece !== "string") throw refusedBundle("is not text");
    length += piece.length;
    if (length > maxLength) throw refusedBundle(`is longer than ${maxLength} characters`);
    let from = 0;
    for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", from)) {
      yield parts.join("") + piece.slice(from, end + 1);
      parts = [];
      from = end + 1;
    }
    if (from < piece.length) parts.push(piece.slice(from));
  }
  if (parts.length > 0) throw refusedBundle("is cut short");
}

interface Draft {
  readonly row: BundledRow;
  readonly entries: Entry[];
  readonly blobs: Map<string, string>;
}

class BundleReader {
  readonly #budget = new ParseBudget("the bundle", LIMITS);
  readonly #sum = digester();
  readonly #runs: Draft[] = [];
  #header: Header | undefined;
  #footer: Footer | undefined;

  take(line: string): void {
    if (this.#footer) throw refusedBundle("continues after its end");
    const content = parseLine(line, this.#budget);
    if ("end" in content) {
      this.#footer = checkFooter(line, content);
      return;
    }
    this.#sum.add(line);
    if (!this.#header) this.#header = checkHeader(content);
    else if ("run" in content) this.#begin(content["run"]);
    else if ("entry" in content) this.#current().entries.push(checkEntry(content["entry"]));
    else if ("blob" in content) this.#addBlob(content["blob"]);
    else throw refusedBundle("has a line that doesn't belong to a bundle");
  }

  #current(): Draft {
    const run = this.#runs.at(-1);
    if (!run) throw refusedBundle("does not begin with a run");
    return run;
  }

  #begin(row: unknown): void {
    const id = isObject(row) ? row["id"] : undefined;
    if (id !== this.#header?.runs[this.#runs.length])
      throw refusedBundle("has runs other than those it lists");
    this.#runs.push({ row: row as unknown as BundledRow, entries: [], blobs: new Map() });
  }

  #addBlob(content: unknown): void {
    const { hash, data } = isObject(content) ? content : {};
    if (typeof hash !== "string" || typeof data !== "string" || !isText(data))
      throw refusedBundle("has an invalid blob");
    const { blobs } = this.#current();
    if (blobs.has(hash)) throw refusedBundle("has a blob twice");
    blobs.set(hash, data);
  }

  end(): Omit<Bundle, "isTrusted"> & { readonly signature?: string } {
    if (!this.#header || !this.#footer) throw refusedBundle("is cut short");
    const { end, digest, signature } = this.#footer;
    if (this.#sum.end() !== digest) throw refusedBundle("was changed: its digest does not fit");
    const count = (size: (run: Draft) => number) => this.#runs.reduce((sum, run) => sum + size(run), 0);
    const isWhole =
      this.#runs.length === this.#header.runs.length &&
      end.runs === this.#runs.length &&
      end.entries === count(({ entries }) => entries.length) &&
      end.blobs === count(({ blobs }) => blobs.size);
    if (!isWhole) throw refusedBundle("has parts other than those it lists");
    const from = this.#header.incarnation;
    return { runs: this.#runs, digest, from, ...defined({ signature }) };
  }
}

type Content = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Content =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Refuses lone surrogates: not every store can keep one, and digests don't see the difference. */
const isText = (text: string): boolean => !/\p{Surrogate}/u.test(text);

/** Lines are long only because of values: deeper nesting, or more parts, isn't a line of a bundle. */
const LIMITS: Partial<ParseLimits> = { bytes: Infinity, keys: 20_000_000, depth: 32, work: Infinity };

function parseLine(line: string, budget: ParseBudget): Content {
  measureJson(line, budget);
  let content: unknown;
  try {
    content = JSON.parse(line);
  } catch (error) {
    throw refusedBundle("has a line that is not JSON", error);
  }
  if (!isObject(content)) throw refusedBundle("has a line that doesn't belong to a bundle");
  return content;
}

function checkHeader(content: Content): Header {
  const { format, version, runs, incarnation } = content;
  if (format !== FORMAT) throw refusedBundle(`does not begin with the format ${FORMAT}`);
  if (!KNOWN.includes(version))
    throw refusedBundle(`is of version ${JSON.stringify(version)}; this Holdfast knows version ${VERSION}`);
  const isList = Array.isArray(runs) && runs.every((id) => typeof id === "string");
  if (!isList || runs.length === 0 || new Set(runs).size < runs.length)
    throw refusedBundle("does not say which runs it holds");
  if (typeof incarnation !== "string") throw refusedBundle("does not say which store it was taken from");
  return content as unknown as Header;
}

function checkEntry(content: unknown): Entry {
  const { seq, count, head, data } = isObject(content) ? content : {};
  const isPlace = Number.isSafeInteger(seq) && Number.isSafeInteger(count) && Number(count) > 0;
  const isWhole = typeof head === "string" && isText(head) && (data === null || typeof data === "string");
  if (!isPlace || !isWhole || !isText(data ?? "")) throw refusedBundle("has an invalid entry");
  return { seq: Number(seq), count: Number(count), head, data };
}

/** The digest doesn't cover it, so it must have exactly the canonical form. */
function checkFooter(line: string, content: Content): Footer {
  const { end, digest, signature } = content;
  const { runs, entries, blobs } = isObject(end) ? end : {};
  const same = { end: { runs, entries, blobs }, digest, ...defined({ signature }) };
  const isWhole = typeof digest === "string" && ["string", "undefined"].includes(typeof signature);
  if (!isWhole || `${JSON.stringify(same)}\n` !== line) throw refusedBundle("has an invalid end");
  return content as unknown as Footer;
}
