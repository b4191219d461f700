import { hexDigest } from "../../hash.ts";
import { replaceUnseen } from "../../values/unseen.ts";
import { EVIDENCE_FORMATS, type EvidenceFile, evidenceFile, nameOf } from "./files.ts";
import type { Evidence } from "./types.ts";
import { zip } from "./zip.ts";

/** Signs a text as a C2SP signed note, as `signText` of `holdfast/security` does. */
export type SignNote = (text: string) => Promise<string>;

/** A ZIP archive with the evidence in all forms, and the list of their digests, signed if there is a key. */
export interface EvidenceBundle {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * The list of files with their SHA-256: one line each, in the form that `sha256sum --check` reads after the word. It is
 * what a signature covers.
 */
export function manifestOf(evidence: Evidence, files: readonly EvidenceFile[]): string {
  const { subject, madeAt, madeBy, store } = evidence;
  const about = subject.run !== undefined ? `run ${subject.run}` : `month ${subject.month ?? "none"}`;
  const span = `from ${new Date(subject.since).toISOString()} until ${new Date(subject.until).toISOString()}`;
  return [
    "holdfast-evidence/v1",
    `${about}, ${span}`,
    `made ${new Date(madeAt).toISOString()} by ${replaceUnseen(madeBy.replace(/\s+/g, " "), () => "?")}`,
    `store ${store.kind} ${store.id}`,
    ...files.map(({ name, text }) => `sha256 ${hexDigest(text)}  ${name}`),
    "",
  ].join("\n");
}

const LINE = /^sha256 ([0-9a-f]{64}) {2}([\w.-]{1,200})$/;

/** The files that a list names, with their digests; `null` when it isn't such a list. */
export function readManifest(text: string): ReadonlyMap<string, string> | null {
  const [first, , , , ...lines] = text.split("\n");
  if (first !== "holdfast-evidence/v1" || lines.pop() !== "" || lines.length === 0) return null;
  const files = new Map<string, string>();
  for (const line of lines) {
    const [, digest, name] = LINE.exec(line) ?? [];
    if (digest === undefined || name === undefined) return null;
    files.set(name, digest);
  }
  return files;
}

/** All forms of evidence in one archive. Without `sign`, the list of digests is there, and nobody vouches for it. */
export async function evidenceBundle(evidence: Evidence, sign?: SignNote): Promise<EvidenceBundle> {
  const files = EVIDENCE_FORMATS.map((format) => evidenceFile(evidence, format));
  const manifest = manifestOf(evidence, files);
  const base = nameOf(evidence);
  const list = sign
    ? { name: `${base}.note`, text: await sign(manifest) }
    : { name: `${base}.sha256.txt`, text: manifest };
  return { name: `${base}.zip`, bytes: await zip([...files, list], evidence.madeAt) };
}
