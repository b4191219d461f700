import { lastSegment } from "../../src/core/keys.ts";
import type { Migration } from "../../src/core/migration.ts";

/** The scenarios' code: version 2 is version 1 with other names for some steps. */
export type ScenarioVersion = "1" | "2";

/** By workflow: the steps that version 2 renames, by their path in version 1. */
const RENAMED: Readonly<Record<string, readonly string[]>> = {
  sequence: ["load", "charge", "mail"],
  group: ["match/ask"],
  loop: ["turn/ask"],
  gates: ["approve"],
  retries: ["read", "pay"],
  family: ["team"],
  "family-agent": ["plan", "tool"],
  undo: ["reserve", "pay"],
};

/** No name appears in both versions. */
const WORDS: Readonly<Record<string, string>> = {
  load: "fetch",
  charge: "bill",
  mail: "post",
  ask: "query",
  approve: "confirm",
  read: "view",
  pay: "settle",
  team: "crew",
  plan: "draft",
  tool: "gear",
  reserve: "hold",
};

const FIRST_WORDS = new Map(Object.entries(WORDS).map(([first, second]) => [second, first]));

/** This version's name for the step that version 1 calls `name`. */
export const nameIn = (version: ScenarioVersion, name: string): string =>
  version === "1" ? name : (WORDS[name] ?? name);

/** A step's key with the names of version 1, because what a step does is independent of its name. */
export const deedOf = (step: string): string =>
  step.replace(/[^/>[\]#:]+/g, (word) => FIRST_WORDS.get(word) ?? word);

/** The migrations between the versions of a workflow. */
export function migrationsOf(workflow: string): readonly Migration[] {
  const paths = RENAMED[workflow] ?? [];
  const second = (path: string): string => path.replace(/[^/]+$/, (name) => WORDS[name] ?? name);
  return [
    {
      from: "1",
      to: "2",
      rename: Object.fromEntries(paths.map((path) => [path, lastSegment(second(path))])),
    },
    {
      from: "2",
      to: "1",
      rename: Object.fromEntries(paths.map((path) => [second(path), lastSegment(path)])),
    },
  ];
}
