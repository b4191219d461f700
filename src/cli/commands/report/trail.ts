import { wordsOf } from "../../../core/journal/event-words.ts";
import type { TrailLine } from "../../../core/manage/reports/trail.ts";
import { defineCommand } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, plural } from "../../format.ts";
import { iso } from "../../view/run-rows.ts";
import { documentOptions, documentOutcome, wantsDocument } from "./documents.ts";

export const trail = defineCommand({
  name: "trail",
  summary: "Everything that happened in a run, who did it and why, and whether the record is intact",
  args: ["<run>"],
  options: documentOptions,
  examples: ["report trail recon-88", "report trail recon-88 --json > recon-88.audit.json"],
  async run(context) {
    const { out } = context;
    const { paint } = out;
    const run = await (await context.addresses()).run(context.args[0] ?? "");
    if (wantsDocument(context.options))
      return documentOutcome(context, { run: run.id, artefacts: ["trail"] });
    const engine = await context.engine();
    const { lines, ...about } = await engine.reports.trail(run.id);
    const verdict = about.verified
      ? paint.green(`✓ the chain of ${plural(lines.length, "event")} is exactly as it was written`)
      : paint.red(`✗ the record was changed or is damaged: ${about.problems[0]?.problem ?? ""}`);
    const people = about.actors.map(({ actor, acts }) => {
      const done = Object.entries(acts).map(([kind, many]) => `${kind.replaceAll("_", " ")} ×${many}`);
      return `  ${oneLine(actor)}: ${done.join(", ")}`;
    });
    return {
      exit: about.verified ? EXIT.done : EXIT.integrity,
      data: { ...about, createdAt: iso(about.createdAt), finishedAt: isoOrNull(about.finishedAt), lines },
      text: [
        `${paint.bold(about.run)}   ${about.workflow} ${about.version}   ${about.status}`,
        `  ${verdict}`,
        `  ${paint.dim(`head ${about.head}`)}`,
        ...(people.length === 0 ? [] : ["", paint.bold("People and programs"), ...people]),
        "",
        ...lines.map(lineText),
      ].join("\n"),
    };
  },
});

const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

function lineText(line: TrailLine): string {
  const name = line.step === "" ? "run" : line.step;
  const words = oneLine(wordsOf(line));
  return `${iso(line.at)} ${`#${line.seq}`.padStart(5)} ${line.entry.slice(0, 8)} ${name.padEnd(18)} ${words}`;
}
