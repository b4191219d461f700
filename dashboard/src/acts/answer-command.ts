import { command } from "./act.ts";
import type { GateDraft } from "./gate-form.tsx";

/** An answer as a command. */
export const answerCommand = (
  run: string,
  gate: string,
  { choice, data }: GateDraft,
  reason: string,
): string =>
  command([
    "gate",
    "answer",
    `${run}:${gate}`,
    ...(choice === "" ? [] : ["--choice", choice]),
    ...(data.trim() === "" ? [] : ["--data", data]),
    ...(reason === "" ? [] : ["--comment", reason]),
  ]);
