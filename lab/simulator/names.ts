import type { Migration } from "../../src/core/migration.ts";
import type { ProgramInput, Section } from "./sections.ts";

/** The programs' code: version 2 is version 1 with other names for every third step, group, loop and child. */
export type ProgramVersion = "1" | "2";

/** This version's name for the section with this id. */
export const nameIn = (version: ProgramVersion, id: string): string =>
  version === "2" && Number(id.slice(1)) % 3 === 0 ? `v${id}` : id;

/** A step's key, or a text about it, with the names of version 1. */
export const deedOf = (text: string): string => text.replace(/\bv(?=[a-z]\d)/g, "");

/** The migrations between the versions, for all runs of these programs. */
export function migrationsOf(programs: readonly ProgramInput[]): readonly Migration[] {
  const there: Record<string, string> = {};
  const back: Record<string, string> = {};
  const visit = (body: readonly Section[], first: string, second: string): void => {
    for (const section of body) {
      const { id } = section;
      const other = nameIn("2", id);
      if (other !== id) {
        there[first + id] = other;
        back[second + other] = id;
      }
      // A child is a separate run with its own paths.
      if (section.kind === "child") visit(section.body, "", "");
      else visit(inside(section), `${first}${id}/`, `${second}${other}/`);
    }
  };
  for (const { body } of programs) visit(body, "", "");
  return [
    { from: "1", to: "2", rename: there },
    { from: "2", to: "1", rename: back },
  ];
}

function inside(section: Section): readonly Section[] {
  if (section.kind === "each") return [section.item];
  if (section.kind === "all") return section.branches.flat();
  return section.kind === "nest" || section.kind === "loop" ? section.body : [];
}
