import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { messageOf } from "./modules.ts";

const NAMES = ["AGENTS.md", "CLAUDE.md", join(".github", "copilot-instructions.md")];

interface Asked {
  readonly instructions?: readonly string[] | undefined;
  readonly workspaceInstructions: boolean;
}

/**
 * Texts that every agent of a workflow file gets before its prompt: those of the workspace, outermost first, then named
 * files.
 */
export function instructionTexts({ instructions = [], workspaceInstructions }: Asked, cwd: string): string[] {
  const found = workspaceInstructions ? workspaceFiles(cwd) : [];
  return [...found, ...instructions.map((file) => resolve(cwd, file))].map(textOf);
}

/** In this folder and those above it, up to the root of the repository. */
function workspaceFiles(cwd: string): string[] {
  const files: string[] = [];
  for (let at = cwd; ; at = dirname(at)) {
    files.unshift(...NAMES.map((name) => join(at, name)).filter((file) => existsSync(file)));
    if (existsSync(join(at, ".git")) || dirname(at) === at) return files;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new HoldfastError("HF-4304", {
      file,
      problem: messageOf(error),
      why: "It was given as instructions.",
      fix: "Check the path.",
    });
  }
}
