/** Shows what the command line looks like in a real terminal (tmux): `npm run build && tsx scripts/screens.ts [60 80 120]`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { lookAt, makeStage } from "../test/support/screens.ts";

const widths = process.argv.slice(2).map(Number);
for (const columns of widths.length > 0 ? widths : [60, 80, 120]) {
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-screens-"));
  makeStage(folder);
  for (const [what, lines] of await lookAt(folder, columns)) {
    const broken = lines.filter((line) => line.length > columns).length;
    console.log(`${"─".repeat(columns)}  ${columns}: ${what}${broken > 0 ? `  ${broken} BROKEN` : ""}`);
    console.log(lines.join("\n"));
  }
  rmSync(folder, { recursive: true, force: true });
}
