import { describe, expect, it } from "vitest";
import { silentLogger } from "../../core/logger.ts";
import { memoryDocuments } from "../../core/store/documents.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { parseToken, withoutTokens } from "./token-text.ts";
import { Tokens } from "./tokens.ts";

const ada = { name: "ci", actor: "ada", roles: ["operator"], createdBy: "root" } as const;
const HOUR = 3_600_000;

function stage() {
  const clock = createFakeClock();
  const documents = memoryDocuments();
  const logged: string[] = [];
  const error = (message: string): void => void logged.push(message);
  const deps = { documents, clock, logger: { ...silentLogger, error } };
  return { clock, documents, logged, tokens: new Tokens(deps), elsewhere: new Tokens(deps) };
}

describe("tokens", () => {
  it("have 256 random bits behind a prefix that scanners find, and only a hash is stored (A4)", async () => {
    const { tokens, documents } = stage();
    const made = await Promise.all(Array.from({ length: 50 }, () => tokens.create(ada)));
    expect(new Set(made.map(({ token }) => token)).size).toBe(50);
    const stored = JSON.stringify(await documents.list("token", { limit: 100 }));
    for (const { token } of made) {
      expect(token).toMatch(/^hf_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(parseToken(token)!.secret, "base64url")).toHaveLength(32);
      expect(stored).not.toContain(parseToken(token)!.secret);
    }
  });

  it("say who calls and what they may do", async () => {
    const { tokens } = stage();
    const scope = { workflows: ["pay"], labels: { team: "a" } };
    const { token, info } = await tokens.create({ ...ada, scope });
    expect(await tokens.check(token)).toMatchObject({
      principal: { actor: "ada", roles: ["operator"], scope, credential: `token ${info.id}` },
    });
    expect(info).not.toHaveProperty("hash");
  });

  it("are refused when malformed, unknown, with another secret, expired or revoked (A4)", async () => {
    const { tokens, clock } = stage();
    const one = await tokens.create({ ...ada, expiresAt: clock.now() + HOUR });
    const two = await tokens.create({ ...ada, name: "two" });
    const swapped = `hf_${one.info.id}_${parseToken(two.token)!.secret}`;
    expect(await tokens.check("hf_")).toEqual({ refused: "malformed" });
    expect(await tokens.check(`${one.token}x`)).toEqual({ refused: "malformed" });
    expect(await tokens.check(`hf_${"a".repeat(16)}_${"b".repeat(43)}`)).toEqual({ refused: "unknown" });
    expect(await tokens.check(swapped)).toEqual({ refused: "unknown" });
    await clock.skip(HOUR - 1);
    expect(await tokens.check(one.token)).toHaveProperty("principal");
    await clock.skip(1);
    expect(await tokens.check(one.token)).toEqual({ refused: "expired" });
    await tokens.revoke("two", "root");
    expect(await tokens.check(two.token)).toEqual({ refused: "revoked" });
  });

  it("are revoked at once here and within a second elsewhere (A4)", async () => {
    const { tokens, elsewhere, clock } = stage();
    const { token, info } = await tokens.create(ada);
    expect(await elsewhere.check(token)).toHaveProperty("principal");
    const revoked = await tokens.revoke(info.id, "eve");
    expect(revoked).toMatchObject({ revokedBy: "eve", revokedAt: clock.now() });
    expect(await tokens.check(token)).toEqual({ refused: "revoked" });
    await clock.skip(1_000);
    expect(await elsewhere.check(token)).toEqual({ refused: "revoked" });
    expect(await tokens.revoke(info.id, "mallory"), "the first revocation counts").toEqual(revoked);
  });

  it("are replaced with an overlap, after which the old one is refused (A4)", async () => {
    const { tokens, clock } = stage();
    const old = await tokens.create(ada);
    const next = await tokens.rotate(old.info.id, "root", clock.now() + HOUR);
    expect(next.info).toMatchObject({ name: "ci", actor: "ada", roles: ["operator"] });
    expect(await tokens.check(old.token)).toHaveProperty("principal");
    await clock.skip(HOUR);
    expect(await tokens.check(old.token)).toEqual({ refused: "expired" });
    expect(await tokens.check(next.token)).toHaveProperty("principal");
  });

  it("are replaced by one that is valid as long as they were, unless it says otherwise", async () => {
    const { tokens, clock } = stage();
    const end = async (expiresAt: number | null, given?: number | null) => {
      const { info } = await tokens.create({ ...ada, expiresAt });
      await clock.skip(HOUR);
      const next = await tokens.rotate(info.id, "root", clock.now() + HOUR, given);
      return next.info.expiresAt === null ? null : next.info.expiresAt - clock.now();
    };
    expect(await end(clock.now() + 30 * 24 * HOUR)).toBe(30 * 24 * HOUR);
    expect(await end(null)).toBe(null);
    expect(await end(clock.now() + HOUR, null)).toBe(null);
  });

  it("note their last use by the hour, not with every request", async () => {
    const { tokens, documents, clock } = stage();
    const { token, info } = await tokens.create(ada);
    await clock.skip(HOUR * 1.5);
    await tokens.check(token);
    const [used] = await tokens.list();
    expect(used?.lastUsedAt).toBe(clock.now() - HOUR / 2);
    const before = await documents.read("token", info.id);
    for (let i = 0; i < 100; i++) await tokens.check(token);
    expect(await documents.read("token", info.id)).toEqual(before);
  });

  it("of a store without any are made once, whoever starts first (A1)", async () => {
    const { tokens, elsewhere } = stage();
    const made = await Promise.all([tokens.first("ada"), elsewhere.first("bob")]);
    const [first] = made.filter((one) => one !== null);
    expect(made.filter((one) => one === null)).toHaveLength(1);
    expect(await tokens.check(first!)).toMatchObject({ principal: { roles: ["admin"] } });
    expect(await tokens.first("ada")).toBeNull();
  });

  it("whose record was damaged are refused, and the log says so", async () => {
    const { tokens, documents, logged, clock } = stage();
    const { token, info } = await tokens.create(ada);
    const { version } = (await documents.read("token", info.id))!;
    const value = '{"roles":["admin"]}';
    await documents.write([{ kind: "token", key: info.id, expect: version, put: { version: "v2", value } }]);
    await clock.skip(1_000);
    expect(await tokens.check(token)).toEqual({ refused: "unknown" });
    expect(logged).toEqual(["a token isn't accepted, because its record can't be read"]);
    expect(await tokens.isUsable()).toBe(false);
  });

  it("can't be made with a role that doesn't exist, without a name, or already expired", async () => {
    const { tokens, clock } = stage();
    const roles = ["root"] as unknown as ["admin"];
    await expect(tokens.create({ ...ada, roles })).rejects.toMatchObject({ code: "HF-6062" });
    await expect(tokens.create({ ...ada, name: "" })).rejects.toMatchObject({ code: "HF-1050" });
    await expect(tokens.create({ ...ada, actor: "a\u001b[2J" })).rejects.toMatchObject({ code: "HF-1050" });
    await expect(tokens.create({ ...ada, roles: [] })).rejects.toMatchObject({ code: "HF-6062" });
    await expect(tokens.create({ ...ada, expiresAt: clock.now() })).rejects.toMatchObject({
      code: "HF-6062",
    });
    expect(await tokens.list()).toEqual([]);
  });

  it("are named by id, or by a name that only one of them has", async () => {
    const { tokens } = stage();
    const [one, two] = [await tokens.create(ada), await tokens.create(ada)];
    await expect(tokens.revoke("ci", "root")).rejects.toMatchObject({ code: "HF-4366" });
    await tokens.revoke(one.info.id, "root");
    expect((await tokens.revoke("ci", "root")).id).toBe(two.info.id);
    await expect(tokens.revoke("nothing", "root")).rejects.toMatchObject({ code: "HF-6061" });
  });

  it("leave a text for the log without their secrets", async () => {
    const { token, info } = await stage().tokens.create(ada);
    expect(withoutTokens(`GET /v1/runs?q=${token}&x=1`)).toBe(`GET /v1/runs?q=hf_${info.id}_…&x=1`);
  });
});
