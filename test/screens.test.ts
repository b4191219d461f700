import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { lookAt, makeStage } from "./support/screens.ts";
import { hasTmux } from "./support/terminal.ts";

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-screens-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// tsx scripts/screens.ts shows them all at 60, 80 and 120 columns.
it.skipIf(!hasTmux)(
  "a terminal of 60 columns breaks no line, and keeps nothing of the live block (C5, C10)",
  async () => {
    makeStage(folder);
    const screens = await lookAt(folder, 60);
    for (const [what, lines] of screens)
      expect([what, lines.filter((line) => line.length > 60 && line.trim().includes(" "))]).toEqual([
        what,
        [],
      ]);
    expect(screens.get("a gate that waits")?.join("\n")).toContain("→ holdfast gate approve oslo:approve");
    const stopped = screens.get("Ctrl-C at a gate") ?? [];
    expect(stopped.at(-1)).toMatch(/^‖ Paused at #\d+ · resume: holdfast resume oslo$/);
    expect(stopped.join("\n")).not.toMatch(/▶|waiting for you|Ctrl-C pauses/);
  },
);
