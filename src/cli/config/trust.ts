import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../core/errors.ts";

const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/**
 * Refuses to execute a configuration that was merely found and that somebody else can change (HF-4323): it, or a folder that it could be
 * put in or replaced in, belongs to another person or is open to everybody. Whoever names it with `--config` has chosen it.
 */
export function checkFound(file: string, cwd: string, me = process.getuid?.()): void {
  // Windows has rights of another kind.
  if (me === undefined) return;
  const trusted = [me, 0, statSync(cwd).uid];
  const problem = problemOf(file, "the file", trusted) ?? problemOf(dirname(file), "its folder", trusted);
  if (problem === undefined) return;
  throw new HoldfastError("HF-4323", {
    file,
    problem: problem.text,
    fix: `${problem.fix}\nor, if you trust it: --config ${file}`,
  });
}

function problemOf(
  path: string,
  what: string,
  trusted: readonly number[],
): { text: string; fix: string } | undefined {
  const { uid, mode }: Stats = statSync(path);
  if (!trusted.includes(uid))
    return { text: `${what} belongs to another user (uid ${uid})`, fix: "Use a configuration of your own." };
  // In a folder such as /tmp everybody can add files, and nobody can replace those of others.
  const isOpen = (mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0;
  return isOpen ? { text: `everybody can write to ${what}`, fix: `chmod o-w ${path}` } : undefined;
}
