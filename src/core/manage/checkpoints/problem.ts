/**
 * `entry`: an entry, or the values in it, are not as they were written. `chain`: an entry is missing, or does not follow the one before.
 * `blob`: a value kept apart is not as it was written. `missing`: a value is not there although nobody dropped it. `snapshot`: it is not
 * what the entries before it add up to. `row`: it says something else than the journal. `dropped`: retention has dropped its values.
 */
export type ProblemKind = "entry" | "chain" | "blob" | "missing" | "snapshot" | "row" | "dropped";

/** What is wrong with a run, and where. */
export interface Problem {
  /** The first position that cannot be relied on. */
  readonly seq: number;
  readonly kind: ProblemKind;
  readonly problem: string;
}
