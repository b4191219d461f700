import type { CrashTestProgress } from "../../testing/crash-test/options.ts";
import { fit } from "../format.ts";
import type { Globals } from "../globals.ts";
import type { Sink } from "../host.ts";
import type { Output } from "../output.ts";

/** A log gets the beginning, every tenth part, and each failed case. */
const PARTS = 10;
const ERASE = "\r\u001b[2K";

/** One line on a terminal that is always current; a few lines in a log. */
export function progressLine(
  stderr: Sink,
  out: Output,
  { quiet, ui }: Globals,
): { show(progress: CrashTestProgress): void; end(): void } {
  const isOff = quiet || ui === "none";
  const isLive = stderr.isTTY && ui !== "lines" && !isOff;
  let told = -1;
  let isDrawn = false;
  const draw = (text: string): void => {
    stderr.write(out.plain(text), ERASE);
    isDrawn = text !== "";
  };
  return {
    show(progress) {
      const line = lineOf(progress);
      if (isLive) return draw(out.note.dim(fit(line, stderr.columns - 1)));
      const part = progress.total === 0 ? 0 : Math.floor((progress.done / progress.total) * PARTS);
      const stage = progress.phase === "baseline" ? -1 : part;
      if (isOff || (stage === told && progress.last?.outcome !== "broken") || progress.done === 0) return;
      told = stage;
      out.say(line);
    },
    end() {
      if (isDrawn) draw("");
    },
  };
}

function lineOf({ phase, done, total, broken, last }: CrashTestProgress): string {
  if (phase === "baseline") return `  uninterrupted, to compare with: ${done} of ${total}`;
  const wrong = broken === 0 ? "" : ` · ${broken} broken`;
  return `  ${done}/${total} cases${wrong}${last ? ` · ${last.id}: ${last.at}` : ""}`;
}
