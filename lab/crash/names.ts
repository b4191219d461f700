import { lastSegment } from "../../src/core/keys.ts";
import type { Migration } from "../../src/core/migration.ts";

/** The scenarios' code: version 2 is version 1 with other names for some of its steps. */
export type ScenarioVersion = "1" | "2";

/** By workflow: the steps, by their path in version 1, that version 2 has another name for. */
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

/** No word of the one version is one of the other. */
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

/** What a version calls the step that version 1 calls `name`. */
export const nameIn = (version: ScenarioVersion, name: string): string =>
  version === "1" ? name : (WORDS[name] ?? name);

/** A step's key with the names of version 1: what is done does not depend on how the code calls it. */
export const deedOf = (step: string): string =>
  step.replace(/[^/>[\]#:]+/g, (word) => FIRST_WORDS.get(word) ?? word);

/** The ways between the versions of a workflow. */
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
