import { describe, expect, it } from "vitest";
import { silentLogger } from "../../core/logger.ts";
import { memoryDocuments } from "../../core/store/documents.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { SignInLinks } from "./sign-in-links.ts";
import { Tokens } from "./tokens.ts";

function stage() {
  const clock = createFakeClock();
  const tokens = new Tokens({ documents: memoryDocuments(), clock, logger: silentLogger });
  return { clock, tokens, links: new SignInLinks(tokens, clock) };
}

describe("links that sign in", () => {
  it("open one session each, of a token that ends within twelve hours and can be revoked", async () => {
    const { clock, tokens, links } = stage();
    const code = links.make("ada");
    expect(code).toMatch(/^[\w-]{32}$/);
    const id = (await links.redeem(code)) ?? "";
    expect(await tokens.checkId(id)).toMatchObject({ principal: { actor: "ada", roles: ["admin"] } });
    expect(await links.redeem(code)).toBeNull();
    expect(await tokens.list()).toMatchObject([{ id, expiresAt: clock.now() + 12 * 3_600_000 }]);
    await tokens.revoke(id, "ada");
    expect(await tokens.checkId(id)).toEqual({ refused: "revoked" });
  });

  it("are refused when nobody made them, and a minute after somebody did", async () => {
    const { clock, tokens, links } = stage();
    expect(await links.redeem("x".repeat(32))).toBeNull();
    const code = links.make("ada");
    await clock.advance(60_000);
    expect(await links.redeem(code)).toBeNull();
    expect(await tokens.list()).toEqual([]);
  });
});
