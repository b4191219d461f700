import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { silentLogger } from "../core/logger.ts";
import { permissionsOf, type Scope } from "./access/permission.ts";
import { parseToken } from "./access/token-text.ts";
import { Tokens } from "./access/tokens.ts";

const DAY = 86_400_000;
const made = { name: "board", roles: ["viewer" as const], reason: "for the wall" };

describe("tokens through the API", () => {
  it("makes, lists, rotates and revokes them, and keeps neither secret nor hash (S1-32)", async () => {
    const lines: { readonly message: string; readonly fields: unknown }[] = [];
    const note = (message: string, fields?: unknown) => lines.push({ message, fields });
    const { client, lab } = createApiStage([], { app: { logger: { ...silentLogger, info: note } } });
    const logged = (what: string) =>
      lines.filter(({ message }) => message === what).map(({ fields }) => fields);
    const { token, info } = await client.createToken({ ...made, scope: { workflows: ["pay"] } });
    expect(info).toMatchObject({ name: "board", actor: "board", createdBy: "ada", state: "valid" });
    expect(info.expiresAt).toBe(info.createdAt + 90 * DAY);
    const next = await client.rotateToken({ token: "board", overlapMs: 1_000, expiresAt: null });
    expect(next.info).toMatchObject({ roles: ["viewer"], scope: { workflows: ["pay"] }, expiresAt: null });
    expect(next.token).not.toBe(token);
    expect(await client.revokeToken({ token: next.info.id, reason: "lost" })).toMatchObject({
      state: "revoked",
      revokedBy: "ada",
    });
    await lab.clock.advance(2_000);
    const { tokens } = await client.listTokens();
    expect(tokens.map(({ state }) => state)).toEqual(["expired", "revoked"]);
    expect(JSON.stringify(tokens)).not.toContain("hash");
    expect(logged("token created")).toMatchObject([{ by: "ada", reason: "for the wall", name: "board" }]);
    expect(logged("token revoked")).toMatchObject([{ by: "ada", reason: "lost" }]);
  });

  it("makes one token for a repeated request, and shows its text once", async () => {
    const { client, lab } = createApiStage([]);
    const { token } = await client.createToken(made, { idempotencyKey: "k" });
    await expect(client.createToken(made, { idempotencyKey: "k" })).rejects.toMatchObject({
      status: 409,
      code: "HF-6086",
    });
    expect((await client.listTokens()).tokens).toHaveLength(1);
    const { documents } = lab.store;
    const kept = await documents?.list("request", { limit: 10 });
    expect(kept).toHaveLength(1);
    expect(JSON.stringify(kept)).not.toContain(parseToken(token)!.secret);
    const tokens = new Tokens({ documents: documents!, clock: lab.clock, logger: silentLogger });
    expect(await tokens.check(token)).toMatchObject({ principal: { actor: "board" } });
  });

  it("makes none that may do or see more than its maker", async () => {
    const permissions = new Set(["runs:read", "metrics:read", "admin"] as const);
    const few = createApiStage([], { app: { identify: () => ({ actor: "eve", permissions }) } });
    expect((await few.client.createToken(made)).info.roles).toEqual(["viewer"]);
    await expect(few.client.createToken({ ...made, roles: ["operator"] })).rejects.toMatchObject({
      status: 403,
      code: "HF-6085",
    });
    const scope: Scope = { workflows: ["pay"] };
    const all = permissionsOf(["admin"]);
    const scoped = createApiStage([], {
      app: { identify: () => ({ actor: "eve", permissions: all, scope }) },
    });
    await expect(scoped.client.createToken({ ...made, scope: { workflows: ["pay"] } })).rejects.toMatchObject(
      {
        code: "HF-6051",
      },
    );
    await expect(few.client.revokeToken({ token: "nobody" })).rejects.toMatchObject({ status: 404 });
  });
});
