import { readdirSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../../source-tree.ts";

/** Every test file of the repository, relative to its root and with forward slashes. */
export function filesOfTests(): string[] {
  return ["src", "lab", "test"].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => path.posix.join(folder, file.split(path.sep).join("/")))
      .sort(),
  );
}
