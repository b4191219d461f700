import { HoldfastError } from "../errors.ts";
import type { Waiting } from "../types.ts";
import type { Facts } from "./facts.ts";
import { isAbout } from "./wait-reason.ts";

/** Runs from another store continue only after a person here has seen what they would execute and accepted it. */
export const foreignProblem = (run: string): HoldfastError => new HoldfastError("HF-3060", { run });

/** True when a run waits for that. */
export const isForeign = (wait: Waiting): boolean => wait.kind === "review" && isAbout(wait, "HF-3060");

/** True when nobody has accepted it yet, according to its journal: the row only follows from it. */
export const isUnaccepted = ({ imported }: Pick<Facts, "imported">): boolean =>
  imported !== undefined && !imported.accepted;
