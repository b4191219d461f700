import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AlertNotification } from "../core/manage/alerts/channel.ts";
import { reachOf } from "./address.ts";
import { slackBody, verifyWebhook, webhook } from "./index.ts";
import { guardedPost } from "./request.ts";

const SECRET = "whsec_c2VjcmV0LW9mLTI0LWJ5dGVzISE=";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
const received: Received[] = [];
let status = 200;
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part: Buffer) => (body += part.toString()));
  request.on("end", () => {
    received.push({ headers: request.headers, body });
    response.writeHead(status, { location: "http://169.254.169.254/latest/meta-data" });
    response.end();
  });
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

const notification: AlertNotification = {
  id: "n1",
  news: "opened",
  at: 1,
  kind: "run-failed",
  key: "run-failed:r",
  severity: "P2",
  title: "[P2] pay r: failed: <!channel> & more",
  summary: "pay r: failed",
  since: 0,
  run: "r",
  workflow: "pay",
  others: 0,
  links: { page: "https://ops.test/r/r", runbook: "docs/runbooks/run-failed.md" },
};

/** Every way to write an address that must not be reached. */
function corpus(): readonly string[] {
  const v4 = [
    "127.0.0.1",
    "127.8.9.1",
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.254",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "100.100.100.200",
  ];
  const number = (text: string): number => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const hex = (text: string): string => number(text).toString(16).padStart(8, "0");
  const forms = v4.flatMap((one) => {
    const [a, b, c, d] = one.split(".").map(Number) as [number, number, number, number];
    const digits = hex(one);
    return [
      one,
      String(number(one)),
      `0x${digits}`,
      `0${a.toString(8)}.${b}.${c}.${d}`,
      `0x${a.toString(16)}.${b}.${c * 256 + d}`,
      `[::ffff:${one}]`,
      `[::ffff:${digits.slice(0, 4)}:${digits.slice(4)}]`,
      `[0:0:0:0:0:ffff:${digits.slice(0, 4)}:${digits.slice(4)}]`,
      `[::${one}]`,
      `[64:ff9b::${one}]`,
      `[2002:${digits.slice(0, 4)}:${digits.slice(4)}::1]`,
    ];
  });
  const v6 = ["::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1"];
  const more = ["2001::1", "2001:db8::1", "3fff::1", "64:ff9b:1::1", "5f00::1", "4000::1"];
  return [...forms, ...[...v6, ...more].map((one) => `[${one}]`)];
}

describe("where webhooks may go (A11)", () => {
  it("refuses every form of an internal address before a connection is made", async () => {
    const all = corpus();
    expect(new Set(all).size).toBeGreaterThanOrEqual(60);
    const reached: string[] = [];
    for (const host of all)
      await guardedPost(`https://${host}:${port}/x`, {}, "{}").then(
        () => reached.push(host),
        (error: unknown) => expect(error, host).toMatchObject({ code: "HF-6122" }),
      );
    expect(reached).toEqual([]);
    for (const host of ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"])
      expect(reachOf(host)).toBe("public");
  });

  it("refuses names that lead inside, also when only one of several addresses does", async () => {
    for (const addresses of [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["8.8.8.8", "::1"], ["::ffff:7f00:1"]]) {
      const resolve = async () =>
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      await expect(guardedPost("https://rebind.test/", {}, "{}", { resolve })).rejects.toMatchObject({
        code: "HF-6122",
      });
    }
  });

  it("connects to the address that was checked, whatever the name leads to afterwards", async () => {
    let asked = 0;
    const resolve = async () => {
      asked++;
      return [{ address: asked === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }];
    };
    const url = `http://hooks.internal:${port}/`;
    const before = received.length;
    await guardedPost(url, {}, "{}", { resolve, allowHosts: ["hooks.internal"] });
    expect([asked, received.length - before]).toEqual([1, 1]);
    // Allowed by name, but link-local addresses never are.
    await expect(
      guardedPost(url, {}, "{}", { resolve, allowHosts: ["hooks.internal"] }),
    ).rejects.toMatchObject({ code: "HF-6122" });
    await expect(
      guardedPost("http://169.254.169.254/", {}, "{}", { allowHosts: ["169.254.0.0/16"] }),
    ).rejects.toMatchObject({ code: "HF-6122" });
  });

  it("reaches internal hosts that are allowed, and only those", async () => {
    const url = `http://127.0.0.1:${port}/`;
    await expect(guardedPost(url, {}, "{}")).rejects.toMatchObject({ code: "HF-6122" });
    await guardedPost(url, {}, "{}", { allowHosts: ["127.0.0.0/8"] });
    const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    for (const host of ["evil.hooks.internal", "hooks.internal.evil.test"])
      await expect(
        guardedPost(`https://${host}/`, {}, "{}", { resolve, allowHosts: ["hooks.internal"] }),
      ).rejects.toMatchObject({ code: "HF-6122" });
    for (const bad of [
      "http://hooks.test/",
      "https://user:pw@hooks.test/",
      "ftp://hooks.test/",
      "file:///etc/passwd",
    ])
      expect(() => webhook({ url: bad, secret: SECRET })).toThrow(
        expect.objectContaining({ code: "HF-6122" }),
      );
  });

  it("follows no redirect, and takes only 2xx for a delivery", async () => {
    const url = `http://127.0.0.1:${port}/`;
    const options = { allowHosts: ["127.0.0.1"] };
    for (status of [301, 302, 307, 308, 400, 404, 500]) {
      const before = received.length;
      await expect(guardedPost(url, {}, "{}", options)).rejects.toMatchObject({ code: "HF-6123" });
      expect(received.length - before).toBe(1);
    }
    status = 204;
    await guardedPost(url, {}, "{}", options);
    status = 200;
  });
});

describe("a webhook", () => {
  it("is signed with its time, and carries the same key for a repeated delivery", async () => {
    const channel = webhook({ url: `http://127.0.0.1:${port}/`, secret: SECRET, allowHosts: ["127.0.0.1"] });
    await channel.send(notification);
    await channel.send(notification);
    const [first, second] = received.slice(-2) as [Received, Received];
    expect(verifyWebhook(first, { secret: SECRET })).toBe("n1");
    expect([first, second].map(({ headers }) => headers["idempotency-key"])).toEqual(["n1", "n1"]);
    expect(JSON.parse(first.body)).toMatchObject({ type: "holdfast.alert", run: "r", severity: "P2" });
    const later = Date.now() + 600_000;
    for (const wrong of [
      () => verifyWebhook({ ...first, body: `${first.body} ` }, { secret: SECRET }),
      () => verifyWebhook(first, { secret: "whsec_b3RoZXItc2VjcmV0LW9mLTI0ISE=" }),
      () => verifyWebhook(first, { secret: SECRET, now: later }),
      () => verifyWebhook({ ...first, headers: {} }, { secret: SECRET }),
    ])
      expect(wrong).toThrow(expect.objectContaining({ code: "HF-6125" }));
    expect(() => webhook({ url: "https://hooks.test/" })).toThrow(
      expect.objectContaining({ code: "HF-6124" }),
    );
  });

  it("sends Slack a text in which nothing of a run becomes a link or calls everybody", () => {
    const { text } = slackBody(notification);
    expect(text).toContain("[P2] pay r: failed: &lt;!channel&gt; &amp; more");
    expect(text).toContain("<https://ops.test/r/r|open> · docs/runbooks/run-failed.md");
  });
});
