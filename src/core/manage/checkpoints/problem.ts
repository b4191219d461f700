/**
 * `entry`: an entry or its values aren't as they were written. `chain`: an entry is missing, or doesn't follow the one
 * before. `blob`: a separately stored value isn't as it was written. `missing`: a value is gone although it wasn't
 * dropped. `snapshot`: it doesn't match the entries before it. `row`: it contradicts the journal. `dropped`: retention
 * has dropped its values.
 */
export type ProblemKind = "entry" | "chain" | "blob" | "missing" | "snapshot" | "row" | "dropped";

/** A problem with a run, and its position. */
export interface Problem {
  /** The first position that can't be trusted. */
  readonly seq: number;
  readonly kind: ProblemKind;
  readonly problem: string;
}
