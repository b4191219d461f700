/** Writes the generated pages of the documentation: `npm run docs`. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { generatedPages } from "./docs/generated.ts";
import { ROOT } from "./docs/text.ts";

for (const [file, text] of await generatedPages()) {
  const target = path.join(ROOT, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}
