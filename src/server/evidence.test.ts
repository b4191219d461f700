import { describe, expect, it } from "vitest";
import { createClient } from "../client/index.ts";
import { createEngine, workflow } from "../index.ts";
import { auditKey, newAuditKey, signText, verifyText } from "../security/index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { permissionsOf } from "./access/permission.ts";
import { createApp } from "./app.ts";

const flow = workflow("flow", (ctx) => ctx.step("work", () => 1));

describe("evidence over the API (S1-56)", () => {
  it("is a page or a signed bundle, and who took it and why is in the audit log", async () => {
    const store = createMemoryStore();
    const engine = createEngine({ store, workflows: [flow] });
    await engine.start(flow, undefined, { id: "r" });
    await engine.result("r");
    const { privateKey, publicKey } = newAuditKey("example.com/audit");
    const notes: string[] = [];
    const sign = async (text: string): Promise<string> => {
      const note = await signText(text, auditKey(privateKey));
      notes.push(note);
      return note;
    };
    const principal = { actor: "olga", permissions: permissionsOf(["auditor"]) };
    const app = createApp({ engine, store, identify: () => principal, sign });
    const client = createClient({ url: "http://localhost", fetch: app.fetch });
    const page = await client.makeEvidence({ run: "r", format: "html", reason: "the yearly audit" });
    expect(page).toMatchObject({ name: "evidence-run-r.html", type: "text/html", signed: false });
    expect(Buffer.from(page.base64, "base64").toString()).toContain("Execution audit trail");
    const month = new Date().toISOString().slice(0, 7);
    const bundle = await client.makeEvidence({ month, reason: "the yearly audit" });
    expect(bundle).toMatchObject({ name: `evidence-${month}.zip`, signed: true });
    expect(Buffer.from(bundle.base64, "base64").subarray(0, 2).toString()).toBe("PK");
    expect(verifyText(notes[0] ?? "", [publicKey]).text).toContain(`evidence-${month}.html`);
    const { entries: acts } = await engine.audit.list({ act: "evidence_exported" });
    expect(acts.map(({ actor, reason, what }) => [actor, reason, what])).toEqual([
      ["olga", "the yearly audit", `month ${month}`],
      ["olga", "the yearly audit", "run r"],
    ]);
    await expect(client.makeEvidence({ run: "nobody", reason: "x" })).rejects.toMatchObject({
      code: "HF-1001",
    });
    await expect(client.makeEvidence({ reason: "x" })).rejects.toMatchObject({ status: 400 });
    await engine.close();
    await app.close();
  });
});
