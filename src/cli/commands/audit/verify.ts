import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseHeads } from "../../../core/audit/proof/checkpoint.ts";
import { type AuditVerification, verificationText } from "../../../core/audit/proof/result.ts";
import { defined } from "../../../core/defined.ts";
import { HoldfastError } from "../../../core/errors.ts";
import { PACKAGE_ROOT } from "../../../testing/package-files.ts";
import { defineCommand } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { plural } from "../../format.ts";
import type { Outcome } from "../../outcome.ts";
import { iso } from "../../view/run-rows.ts";
import { damaged } from "../validate/invalid.ts";

export const verify = defineCommand({
  name: "verify",
  summary: "Verify the audit log and the journals against signed heads and anchors",
  options: {
    anchor: { flag: "--anchor <file>", summary: "A file of signed heads kept outside the store", list: true },
    key: {
      flag: "--key <public key>",
      summary: "A public key that you trust, as name+id+base64",
      list: true,
    },
    values: { flag: "--values", summary: "Check the values in the journals too" },
  },
  examples: ["audit verify --anchor /mnt/worm/holdfast.heads", "audit verify --json"],
  async run(context) {
    const { anchor = [], key, values } = context.options;
    const anchors = anchor.map((file) => ({ name: file, text: headsIn(context, file) }));
    const journals = values ? ("full" as const) : ("heads" as const);
    const engine = await context.engine();
    const found = await engine.audit.verify({ anchors, journals, ...defined({ keys: key }) });
    return verificationOutcome(context.where, found);
  },
});

export function verificationOutcome(where: string, found: AuditVerification): Outcome {
  const { ok, problems } = found;
  const outcome = { data: { ...found, where }, text: verificationText(found) };
  if (ok) return outcome;
  const [first] = problems;
  return {
    ...outcome,
    ...damaged(
      where,
      plural(problems.length, "problem"),
      first ? `${first.where}: ${first.problem}` : "",
      "Nothing was changed by this check.",
      "Keep a copy of the store as evidence, and compare it with a backup from before the last good anchor.",
    ),
  };
}

function headsIn({ host }: CommandContext<unknown>, file: string): string {
  const read = (): string => {
    try {
      return readFileSync(resolve(host.cwd, file), "utf8");
    } catch (error) {
      throw unreadable(file, String((error as NodeJS.ErrnoException).code));
    }
  };
  const text = read();
  if (parseHeads(text).heads.length === 0) throw unreadable(file, "it has no signed head in it");
  return text;
}

const unreadable = (file: string, problem: string): HoldfastError =>
  new HoldfastError("HF-3210", { file, kind: "an anchor", problem });

export const anchor = defineCommand({
  name: "anchor",
  summary: "Sign what is new now, and send the head to every anchor",
  examples: ["audit anchor", "audit anchor --json"],
  async run(context) {
    const { head, anchors } = await (await context.engine()).audit.anchor();
    const sent = anchors.map(({ name }) => `  ${name}`);
    const where =
      anchors.length === 0 ? "no anchor is configured" : `sent to ${plural(anchors.length, "anchor")}`;
    return {
      data: { head: { ...head, at: iso(head.at) }, anchors },
      text: [`✓ signed ${head.size} leaves; ${where}`, ...sent, "", head.note.trimEnd()].join("\n"),
      next: ["audit verify"],
    };
  },
});

export const verifier = defineCommand({
  name: "verifier",
  summary: "Print the offline verifier: one file that needs nothing but Node",
  examples: ["audit verifier > verify-audit.mjs"],
  async run() {
    const file = join(PACKAGE_ROOT, "dist/verify-audit.mjs");
    return { data: { file }, text: readFileSync(file, "utf8").trimEnd(), isValue: true };
  },
});
