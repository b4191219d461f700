import { DELETED_RUNS, deletionMark } from "../../store/deleted.ts";
import { Chain, dataProblem, type LinkedEntry } from "./chain.ts";
import { type AuditProblem, runKey, type SignedPosition, type SignedRun } from "./log-check.ts";

/** A run as its store has it: the row's position and head. */
export interface StoredRun {
  readonly run: string;
  readonly created: number;
  readonly seq: number;
  readonly head: string;
}

/** A run whose last events no anchor covers. */
export interface NewerRun {
  readonly run: string;
  /** The last position that the anchor covers; 0: none. */
  readonly anchored: number;
  readonly seq: number;
}

interface Head {
  readonly p?: unknown;
  readonly d?: string;
  readonly v?: readonly (readonly [string, string, { readonly runs?: readonly { mark?: string }[] }])[];
}

/** Checks journals against the positions that a log has signed. Runs come one after the other, entries in order. */
export class RunCheck {
  readonly problems: AuditProblem[] = [];
  readonly newer: NewerRun[] = [];
  /** Runs that the log knows and the store says were deleted. */
  deleted = 0;
  runs = 0;
  entries = 0;
  readonly #signed: ReadonlyMap<string, SignedRun>;
  readonly #anchoredSize: number;
  readonly #seen = new Set<string>();
  readonly #deletions = new Set<string>();
  #current: { readonly row: StoredRun; readonly chain: Chain; readonly due: SignedPosition[] } | null = null;
  #isBroken = false;

  /** `anchoredSize`: the number of leaves that an anchor, or without one a signature, covers. */
  constructor(signed: ReadonlyMap<string, SignedRun>, anchoredSize: number) {
    this.#signed = signed;
    this.#anchoredSize = anchoredSize;
  }

  begin(row: StoredRun): void {
    this.end();
    this.runs++;
    const key = runKey(row.run, row.created);
    if (this.#seen.has(key)) this.#found(row.run, "It is there twice.");
    this.#seen.add(key);
    this.#isBroken = false;
    this.#current = { row, chain: new Chain(1, ""), due: [...(this.#signed.get(key)?.positions ?? [])] };
  }

  entry(entry: LinkedEntry): void {
    const current = this.#current;
    this.entries++;
    if (!current || this.#isBroken) return;
    const { row, chain, due } = current;
    const broken = (problem: string): void => {
      this.#isBroken = true;
      this.#found(row.run, `#${entry.seq}: ${problem}`);
    };
    if (!chain.isNext(entry.seq)) return broken("An entry is missing.");
    const head = headOf(entry);
    if (!head) return broken("The entry is not in the journal's format.");
    if (!chain.take(entry, String(head.p))) return broken("The entry does not follow the one before it.");
    const problem = dataProblem(head.d, entry.data ?? null);
    if (problem) return broken(problem);
    const last = entry.seq + entry.count - 1;
    for (let [next] = due; next && next.seq <= last; [next] = due) {
      if (!chain.endsAt(next.seq, next.head))
        return broken(`It isn't what leaf ${next.index} was signed over.`);
      due.shift();
    }
    if (row.run === DELETED_RUNS)
      for (const [kind, , meta] of head.v ?? [])
        if (kind === "runs_deleted") for (const { mark } of meta.runs ?? []) this.#deletions.add(mark ?? "");
  }

  /** The end of the run that was begun last. */
  end(): void {
    const current = this.#current;
    this.#current = null;
    if (!current || this.#isBroken) return;
    const { row, chain, due } = current;
    const [missing] = due;
    if (missing)
      this.#found(
        row.run,
        `Its journal ends at #${chain.next - 1}, but leaf ${missing.index} was signed when it was at #${missing.seq}.`,
      );
    if (!chain.endsAt(row.seq, row.head))
      this.#found(row.run, "The journal does not end where the run's head says.");
    const positions = this.#signed.get(runKey(row.run, row.created))?.positions ?? [];
    const anchored = positions.findLast(({ index }) => index < this.#anchoredSize)?.seq ?? 0;
    if (row.seq > anchored) this.newer.push({ run: row.run, anchored, seq: row.seq });
  }

  /** Every run that the log knows must be there, or recorded as deleted. */
  finish(): void {
    this.end();
    for (const [key, { run, created, positions }] of this.#signed) {
      if (this.#seen.has(key)) continue;
      if (this.#deletions.has(deletionMark({ id: run, createdAt: created }))) this.deleted++;
      else
        this.#found(
          run,
          `It is gone, and no deletion is recorded. Leaf ${positions.at(-1)?.index} names it.`,
        );
    }
  }

  #found(where: string, problem: string): void {
    this.problems.push({ kind: "run", where, problem });
  }
}

function headOf({ head, count }: LinkedEntry): Head | undefined {
  try {
    const parsed = JSON.parse(head) as Head | null;
    return parsed && Array.isArray(parsed.v) && parsed.v.length === count ? parsed : undefined;
  } catch {
    return undefined;
  }
}
