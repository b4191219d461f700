import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { lookAt, makeStage } from "./support/screens.ts";
import { hasTmux } from "./support/terminal.ts";

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-screens-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// tsx scripts/screens.ts shows them all at these widths.
it.skipIf(!hasTmux).each([60, 80, 120])(
  "a terminal of %i columns breaks no line, and keeps nothing of the live block (C5, C10)",
  async (columns) => {
    const stage = path.join(folder, String(columns));
    makeStage(stage);
    const screens = await lookAt(stage, columns);
    for (const [what, lines] of screens)
      expect([what, lines.filter((line) => line.length > columns && line.trim().includes(" "))]).toEqual([
        what,
        [],
      ]);
    expect(screens.get("a gate that waits")?.join("\n")).toContain("→ holdfast gate approve oslo:approve");
    const stopped = screens.get("Ctrl-C at a gate") ?? [];
    expect(stopped.at(-1)).toMatch(/^‖ Paused at #\d+ · resume: holdfast resume oslo$/);
    expect(stopped.join("\n")).not.toMatch(/▶|waiting for you|Ctrl-C pauses/);
  },
);
