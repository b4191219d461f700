import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { defined } from "../../../core/defined.ts";
import { HoldfastError } from "../../../core/errors.ts";
import { hexDigest } from "../../../core/hash.ts";
import { type Drill, drillOf } from "../../../core/manage/evidence/drill.ts";
import { parseJson } from "../../../core/values/bounded-json.ts";
import { ParseBudget } from "../../../core/values/parse-budget.ts";
import { defineCommand } from "../../command.ts";
import { usage } from "../../globals.ts";
import { messageOf } from "../../modules.ts";
import { documentOptions, documentOutcome } from "./documents.ts";
import { periodOptions, readSpanOf } from "./period.ts";

export const evidence = defineCommand({
  name: "evidence",
  summary: "The four reports for auditors in one document: of a run, a month or a period",
  args: ["[run]"],
  options: {
    ...periodOptions,
    ...documentOptions,
    drill: {
      flag: "--drill <file>",
      summary: "Include the JSON report of a crash test, as proof of recovery",
      list: true,
    },
  },
  examples: [
    "report evidence recon-88 --format html -o recon-88.html",
    "report evidence --month 2026-11 --format zip --sign",
    "report evidence --month 2026-11 --drill crash-test.json -o november.html",
  ],
  async run(context) {
    const { options, host, args } = context;
    const drills = (options.drill ?? []).map((file) => readDrill(file, host.cwd));
    const [named] = args;
    if (named === undefined)
      return documentOutcome(context, { ...(await readSpanOf(context)), ...defined({ drills }) });
    if (options.month !== undefined || options.since !== undefined || options.workflow !== undefined)
      throw usage(
        "A run and a period don't go together",
        "Evidence is about one run with everything in it, or about a period.",
        `holdfast report evidence ${named}`,
      );
    const { id: run } = await (await context.addresses()).run(named);
    return documentOutcome(context, { run, drills });
  },
});

const MOST_BYTES = 32 * 1024 * 1024;

function readDrill(file: string, cwd: string): Drill {
  let text: string;
  let report: unknown;
  try {
    text = readFileSync(resolve(cwd, file), "utf8");
    report = parseJson(text, new ParseBudget(file, { bytes: MOST_BYTES }));
  } catch (error) {
    throw new HoldfastError("HF-6150", { file, problem: messageOf(error) });
  }
  return drillOf(report, hexDigest(text), file);
}
