import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../core/errors.ts";

const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/**
 * Refuses to execute a configuration that was merely found and that another user can change (HF-4323): it, or a folder
 * in which it could be created or replaced, belongs to another user or is writable by everyone. Naming it with
 * `--config` is a deliberate choice.
 */
export function checkFound(file: string, cwd: string, me = process.getuid?.()): void {
  // Windows has a different permission model.
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
  // In a folder such as /tmp everyone can add files, but not replace those of others.
  const isOpen = (mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0;
  return isOpen ? { text: `everybody can write to ${what}`, fix: `chmod o-w ${path}` } : undefined;
}
