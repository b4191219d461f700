import { onDemand } from "../on-demand.ts";

export const work = onDemand(() => import("./work.ts"));
export const questions = onDemand(() => import("./questions.ts"));
export const verbs = onDemand(() => import("./verbs.ts"));
