import { HoldfastError } from "../errors.ts";
import type { Waiting } from "../types.ts";
import type { Facts } from "./facts.ts";
import { isAbout } from "./wait-reason.ts";

/** Runs that came from another store: they go on when somebody here has seen what they would execute, and has said so. */
export const foreignProblem = (run: string): HoldfastError => new HoldfastError("HF-3060", { run });

/** Whether a run waits for that. */
export const isForeign = (wait: Waiting): boolean => wait.kind === "review" && isAbout(wait, "HF-3060");

/** Whether nobody has accepted it yet, by what its journal says: the row only follows from it. */
export const isUnaccepted = ({ imported }: Pick<Facts, "imported">): boolean =>
  imported !== undefined && !imported.accepted;
