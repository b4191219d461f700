import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { HoldfastError } from "../../../core/errors.ts";
import { evidenceBundle, manifestOf, type SignNote } from "../../../core/manage/evidence/bundle.ts";
import { type EvidenceFormat, evidenceFile } from "../../../core/manage/evidence/files.ts";
import type { Evidence, EvidenceQuery } from "../../../core/manage/evidence/types.ts";
import type { CommandContext } from "../../context.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { Outcome } from "../../outcome.ts";
import { writeWhole } from "../../output-file.ts";
import { bytes } from "../../view/sizes.ts";

/** The options of every report that can be handed to an auditor. */
export const documentOptions = {
  format: {
    flag: "--format <kind>",
    summary: "Write a document: md, html (to read and print), json, or zip with all three",
    choices: ["md", "html", "json", "zip"],
  },
  out: { flag: "-o, --out <file>", summary: "Write the document to this file (default: standard output)" },
  sign: { flag: "--sign", summary: "Sign the document with the key in HOLDFAST_AUDIT_KEY" },
  key: { flag: "--key <file>", summary: "Sign it with the key in this file instead" },
} as const;

interface Given {
  readonly format: EvidenceFormat | "zip" | undefined;
  readonly out: string | undefined;
  readonly sign: boolean;
  readonly key: string | undefined;
}

/** True when a document is wanted, and not a text for the terminal. */
export const wantsDocument = ({ format, out, sign, key }: Given): boolean =>
  format !== undefined || out !== undefined || sign || key !== undefined;

/** A report as a document. What was found decides the exit code, as it does for the text. */
export async function documentOutcome(
  context: CommandContext<Given>,
  query: Omit<EvidenceQuery, "by">,
): Promise<Outcome> {
  const { options, host } = context;
  const sign = await signerOf(options, host.cwd);
  const engine = await context.engine();
  const evidence = await engine.reports.evidence({ ...query, by: await context.actor() });
  const exit = exitOf(evidence);
  const { format = "html", out } = options;
  if (format !== "zip" && !sign && out === undefined) {
    const { text } = evidenceFile(evidence, format);
    return { exit, data: { evidence: plainData(evidence) }, text, isValue: true };
  }
  const files = await filesOf(evidence, format, out, sign);
  if (!context.globals.yes) for (const { name } of files) refuseExisting(host.cwd, name);
  for (const { name, content } of files) await writeWhole(resolve(host.cwd, name), [content]);
  const lines = files.map(({ name, content }) => `✓ wrote ${name} (${bytes(Buffer.byteLength(content))})`);
  const data = { files: files.map(({ name }) => name), isSigned: sign !== undefined };
  return { exit, data, text: lines.join("\n") };
}

interface Written {
  readonly name: string;
  readonly content: string | Uint8Array;
}

async function filesOf(
  evidence: Evidence,
  format: EvidenceFormat | "zip",
  out: string | undefined,
  sign: SignNote | undefined,
): Promise<readonly Written[]> {
  if (format === "zip") {
    const { name, bytes: content } = await evidenceBundle(evidence, sign);
    return [{ name: out ?? name, content }];
  }
  const file = evidenceFile(evidence, format);
  const name = out ?? file.name;
  if (!sign) return [{ name, content: file.text }];
  // The note stands beside the file and names it as it is called there.
  const manifest = manifestOf(evidence, [{ ...file, name: basename(name) }]);
  return [
    { name, content: file.text },
    { name: `${name}.note`, content: await sign(manifest) },
  ];
}

async function signerOf({ sign, key }: Given, cwd: string): Promise<SignNote | undefined> {
  if (!sign && key === undefined) return undefined;
  const { envAuditKey, fileAuditKey, signText } = await import("../../../security/index.ts");
  const signer = key === undefined ? envAuditKey() : fileAuditKey(resolve(cwd, key));
  return (text) => signText(text, signer);
}

function exitOf({ trail, effects }: Evidence): ExitCode {
  if ((trail?.damaged ?? 0) > 0) return EXIT.integrity;
  return (effects?.violations ?? 0) > 0 ? EXIT.failed : EXIT.done;
}

function refuseExisting(cwd: string, name: string): void {
  if (existsSync(resolve(cwd, name))) throw new HoldfastError("HF-4356", { file: name });
}

const plainData = (evidence: Evidence): unknown => JSON.parse(evidenceFile(evidence, "json").text);
