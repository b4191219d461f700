import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { parseHead, parseHeads } from "../core/audit/proof/checkpoint.ts";
import { parsePublicKey } from "../core/audit/proof/note.ts";
import { auditKey, fileAuditKey, newAuditKey } from "./audit-key.ts";
import { signText, verifyText } from "./notes.ts";

const folder = useFolders("notes");

/** The example of c2sp.org/signed-note and the key of the Go documentation's tests. */
const GO = {
  privateKey: "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
  publicKey: "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  line: "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n",
};

describe("a signed note", () => {
  it("is the one that the Go tools make of the same key and text (U2)", async () => {
    const key = auditKey(GO.privateKey);
    expect(key.publicKey).toBe(GO.publicKey);
    const note = await signText(GO.text, key);
    expect(note).toBe(`${GO.text}\n${GO.line}`);
    expect(verifyText(note, [GO.publicKey])).toEqual({ text: GO.text, signedBy: [GO.publicKey] });
  });

  it("counts only with the signature of a trusted key over exactly this text", async () => {
    const [mine, other] = [newAuditKey("example.com/a"), newAuditKey("example.com/b")];
    const note = await signText("report\nfine\n", auditKey(mine.privateKey), auditKey(other.privateKey));
    expect(verifyText(note, [other.publicKey]).signedBy).toEqual([other.publicKey]);
    const changed = note.replace("fine", "good");
    for (const [text, keys] of [
      [changed, [mine.publicKey]],
      [note, [newAuditKey("example.com/a").publicKey]],
      ["report\nfine\n", [mine.publicKey]],
    ] as const)
      expect(() => verifyText(text, keys)).toThrow(expect.objectContaining({ code: "HF-3202" }));
  });

  it("is never the head of a log, and refuses what can't be a note", async () => {
    const key = auditKey(newAuditKey("k").privateKey);
    for (const text of ["origin\n12\nroot\n", "no end", "a\ttab\n"])
      await expect(signText(text, key)).rejects.toMatchObject({ code: "HF-3201" });
    await expect(signText("a\n", { ...key, sign: () => new Uint8Array(64) })).rejects.toMatchObject({
      code: "HF-3200",
    });
  });

  it("doesn't take a key that isn't one, or a file that others may read", () => {
    const { privateKey, publicKey } = newAuditKey("example.com/a");
    expect(() => auditKey(publicKey)).toThrow(expect.objectContaining({ code: "HF-3200" }));
    expect(() => newAuditKey("two words")).toThrow(expect.objectContaining({ code: "HF-3200" }));
    expect(parsePublicKey(publicKey.replace("example", "another"))).toBeUndefined();
    const place = folder();
    mkdirSync(place);
    const file = path.join(place, "key");
    writeFileSync(file, `${privateKey}\n`, { mode: 0o600 });
    expect(fileAuditKey(file).publicKey).toBe(publicKey);
    chmodSync(file, 0o644);
    expect(() => fileAuditKey(file)).toThrow(expect.objectContaining({ code: "HF-3200" }));
  });
});

describe("a file of tree heads", () => {
  const note =
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n";

  it("is read head by head, without what a killed process left of one", () => {
    expect(parseHead(note)).toMatchObject({ origin: "example.com/behind-the-sofa", size: 20852163 });
    const torn = note.slice(0, 60);
    const { heads, torn: count } = parseHeads(`${note}\n${note}\n${torn}\n\n${note}\n`);
    expect(heads.map(({ text }) => text)).toEqual([note, note, note]);
    expect(count).toBe(1);
  });
});
