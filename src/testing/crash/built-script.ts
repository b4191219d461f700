import { fileURLToPath } from "node:url";

/**
 * The path of a script that runs in a process of its own. Children run built JavaScript: from the sources the
 * path leads to the same file in the build.
 */
export function builtScript(from: string, name: string): string {
  const isBuilt = from.endsWith(".js");
  const script = fileURLToPath(new URL(`${name}.js`, from));
  if (isBuilt) return script;
  const at = Math.max(script.lastIndexOf("/src/"), script.lastIndexOf("\\src\\"));
  return `${script.slice(0, at + 1)}dist${script.slice(at + 4)}`;
}
