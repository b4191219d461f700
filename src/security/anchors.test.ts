import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { S3Client } from "@aws-sdk/client-s3";
import { afterAll, describe, expect, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { createLab } from "../../test/support/lab.ts";
import { parseHeads } from "../core/audit/proof/checkpoint.ts";
import { type ReceivedWebhook, verifyWebhook } from "../notify/signature.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { fileAnchor, s3Anchor, webhookAnchor } from "./anchors.ts";
import { auditKey, newAuditKey } from "./audit-key.ts";

const folder = useFolders("anchors");
const made = newAuditKey("example.com/audit");
const key = auditKey(made.privateKey);
const keys = [made.publicKey];
const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));

async function serving(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(listener ?? (() => undefined));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function inFolder(name: string): string {
  const place = folder();
  mkdirSync(place);
  return `${place}/${name}`;
}

describe("an anchor in a file", () => {
  it("gets every head once, also after a process died in the middle of a note", async () => {
    const file = inFolder("heads");
    const lab = createLab();
    const engine = lab.engine([], { audit: { key, anchors: [fileAnchor(file)] } });
    await engine.audit.record({ act: "thing_done" });
    await engine.audit.anchor();
    await engine.audit.anchor();
    expect(parseHeads(readFileSync(file, "utf8"))).toMatchObject({ heads: { length: 1 }, torn: 0 });
    appendFileSync(file, "holdfast/torn\n12");
    await engine.audit.record({ act: "thing_done" });
    await engine.audit.anchor();
    const { heads, torn } = parseHeads(readFileSync(file, "utf8"));
    expect([heads.length, torn]).toEqual([2, 1]);
    const found = await engine.audit.verify({
      keys,
      anchors: [{ name: file, text: readFileSync(file, "utf8") }],
    });
    expect(found).toMatchObject({ ok: true, anchored: { size: heads[1]?.size } });
  });

  it("gives away a store that was put back to an older copy", async () => {
    const file = inFolder("heads");
    const anchors = [fileAnchor(file)];
    const [lab, older] = [createLab(), createLab()];
    const engine = lab.engine([], { audit: { key, anchors } });
    await engine.audit.record({ act: "thing_done" });
    await engine.audit.anchor();
    // The copy: the documents as they are now.
    for (const kind of ["audit.leaves", "audit.heads", "audit.tip"])
      for (const { key: name, version, value } of (await lab.store.documents?.list(kind, { limit: 100 })) ??
        [])
        await older.store.documents?.write([{ kind, key: name, expect: null, put: { version, value } }]);
    await engine.audit.record({ act: "other_done" });
    await engine.audit.anchor();
    const back = older.engine([], { audit: { key, anchors } });
    await back.audit.record({ act: "forged_act" });
    await expect(back.audit.anchor()).rejects.toMatchObject({ code: "HF-3208" });
    const text = readFileSync(file, "utf8");
    const found = await back.audit.verify({ keys, anchors: [{ name: "file", text }] });
    expect(found.problems).toMatchObject([{ kind: "anchor" }]);
  });
});

describe("an anchor at another host", () => {
  it("gets the head with a signature that its secret makes, and a failure is told", async () => {
    const got: ReceivedWebhook[] = [];
    let status = 200;
    const url = await serving((request, response) => {
      let body = "";
      request.on("data", (part) => (body += String(part)));
      request.on("end", () => {
        got.push({ body, headers: request.headers });
        response.writeHead(status).end();
      });
    });
    const lab = createLab();
    const engine = lab.engine([], { audit: { key, anchors: [webhookAnchor({ url, secret: "12345678" })] } });
    const { head } = await engine.audit.anchor();
    const first = got[0] as ReceivedWebhook;
    expect(first.body).toBe(head.note);
    expect(verifyWebhook(first, { secret: "12345678" })).toBe(`${head.origin}/${head.size}`);
    expect(() => verifyWebhook(first, { secret: "87654321" })).toThrow();
    status = 503;
    await engine.audit.record({ act: "thing_done" });
    await expect(engine.audit.anchor()).rejects.toMatchObject({ code: "HF-3207" });
    await lab.clock.advance(200_000);
    expect(await engine.audit.health()).toMatchObject({ state: "late", anchors: [{ isLate: true }] });
    status = 200;
    await engine.audit.anchor();
    expect(await engine.audit.health()).toMatchObject({ state: "ok", problem: null });
  });

  it("takes no address where anybody could listen", () => {
    for (const url of [
      "http://example.com/x",
      "ftp://localhost/x",
      "https://169.254.169.254/x",
      "https://10.0.0.1/x",
    ])
      expect(() => webhookAnchor({ url, secret: "12345678" })).toThrow(
        expect.objectContaining({ code: "HF-6122" }),
      );
    expect(() => webhookAnchor({ url: "nothing", secret: "12345678" })).toThrow(
      expect.objectContaining({ code: "HF-1003" }),
    );
  });

  it("reaches no internal machine through a public name, and follows no redirect", async () => {
    const resolve = async () => [{ address: "10.0.0.7", family: 4 }];
    const inner = webhookAnchor({ url: "https://audit.example.com/heads", secret: "12345678", resolve });
    const head = { note: "note", origin: "holdfast/x", size: 1 };
    await expect(inner.send(head as never)).rejects.toMatchObject({ code: "HF-6122" });
    const url = await serving((_, response) =>
      response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
    );
    await expect(webhookAnchor({ url, secret: "12345678" }).send(head as never)).rejects.toMatchObject({
      code: "HF-6123",
    });
  });
});

describe("an anchor in S3 with Object Lock", () => {
  it("writes each head once, locked, and finds another one under its name (S1-34)", async () => {
    const objects = new Map<string, { body: string; headers: Record<string, unknown> }>();
    const endpoint = await serving((request, response) => {
      const name = decodeURIComponent(new URL(request.url ?? "", "http://x").pathname);
      let body = "";
      request.on("data", (part) => (body += String(part)));
      request.on("end", () => {
        const known = objects.get(name);
        if (request.method === "GET") return response.writeHead(known ? 200 : 404).end(known?.body);
        // What Object Lock promises: nothing is overwritten.
        if (known)
          return response
            .writeHead(412, { "content-type": "application/xml" })
            .end("<Error><Code>PreconditionFailed</Code></Error>");
        objects.set(name, { body, headers: { ...request.headers } });
        return response.writeHead(200).end();
      });
    });
    const credentials = { accessKeyId: "a", secretAccessKey: "b" };
    const client = new S3Client({ region: "eu-central-1", endpoint, forcePathStyle: true, credentials });
    const anchor = await s3Anchor({ bucket: "worm", client });
    const lab = createLab(createMemoryStore());
    const engine = lab.engine([], { audit: { key, anchors: [anchor] } });
    const { head } = await engine.audit.anchor();
    const name = `/worm/holdfast/${head.origin}/${String(head.size).padStart(15, "0")}`;
    expect([...objects.keys()]).toEqual([name]);
    expect(objects.get(name)).toMatchObject({
      body: expect.stringContaining(head.note) as string,
      headers: { "if-none-match": "*", "x-amz-object-lock-mode": "COMPLIANCE" },
    });
    objects.set(name, { body: head.note, headers: {} });
    await anchor.send(head);
    await expect(anchor.send({ ...head, note: "another" })).rejects.toThrow("another head");
    client.destroy();
  });
});
