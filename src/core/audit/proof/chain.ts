import { digest } from "../../hash.ts";

/**
 * The one rule by which entries of a journal follow each other: no position is missing, and each entry names the hash
 * of the one before it. Restore, `verify` and the offline verifier all ask it.
 */
export class Chain {
  #seq: number;
  #hash: string | undefined;

  /** `seq` is the required position of the first entry; `hash` the hash that it must name, if known. */
  constructor(seq: number, hash?: string) {
    this.#seq = seq;
    this.#hash = hash;
  }

  /** The position that the next entry must have. */
  get next(): number {
    return this.#seq;
  }

  /** The hash of the last entry. */
  get hash(): string | undefined {
    return this.#hash;
  }

  /** True when an entry at this position comes next. */
  isNext(seq: number): boolean {
    return seq === this.#seq;
  }

  /** Takes the next entry, which names `prev`; returns false when that isn't the one before it. */
  take({ seq, count, head }: LinkedEntry, prev: string): boolean {
    if (this.#hash !== undefined && prev !== this.#hash) return false;
    this.#hash = digest(head);
    this.#seq = seq + count;
    return true;
  }

  /** True when the last entry is the one that a row or a signed head names. */
  endsAt(seq: number, head: string): boolean {
    return this.#seq - 1 === seq && this.#hash === head;
  }
}

export interface LinkedEntry {
  readonly seq: number;
  readonly count: number;
  readonly head: string;
  /** Missing: not looked at. */
  readonly data?: string | null;
}

/** What is wrong between stored values and the digest in their head; `null`: nothing, or they were dropped. */
export const dataProblem = (digestInHead: string | undefined, data: string | null): string | null =>
  data === null || digest(data) === digestInHead ? null : "The stored values do not match their digest.";
