import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createOidc, type OidcOptions } from "./oidc.ts";

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
let server: Server;
let pair: Pair;
let stranger: Pair;
let issuer: string;
let keyRequests = 0;

beforeAll(async () => {
  pair = await generateKeyPair("RS256");
  stranger = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: "k1", alg: "RS256", use: "sig" };
  server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.url === "/.well-known/openid-configuration")
      return response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
    keyRequests++;
    return response.end(JSON.stringify({ keys: [jwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const options = (): OidcOptions => ({
  issuer,
  audience: "holdfast",
  rolesClaim: "realm_access.roles",
  roles: { ops: "operator", sec: "auditor" },
});

const claims = (more: JWTPayload = {}): JWTPayload => ({
  sub: "u-1",
  email: "ada@example.com",
  realm_access: { roles: ["ops", "cooks"] },
  iss: issuer,
  aud: "holdfast",
  iat: Math.floor(systemClock.now() / 1_000),
  exp: Math.floor(systemClock.now() / 1_000) + 300,
  ...more,
});

const signed = (payload: JWTPayload, { key = pair.privateKey, kid = "k1", alg = "RS256", ...more } = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg, kid, ...more }).sign(key);

const check = async (token: string) => (await createOidc(options(), systemClock)).check(token);

describe("OpenID Connect", () => {
  it("takes actor and roles from the claims, and ignores groups that mean nothing here", async () => {
    expect(await check(await signed(claims()))).toMatchObject({
      principal: { actor: "ada@example.com", roles: ["operator"], credential: "oidc u-1" },
    });
    const unverified = await signed(claims({ email_verified: false }));
    expect(await check(unverified)).toMatchObject({ principal: { actor: "u-1" } });
  });

  it("fetches the keys once for many tokens", async () => {
    const oidc = await createOidc(options(), systemClock);
    const before = keyRequests;
    for (let i = 0; i < 10; i++) expect(await oidc.check(await signed(claims()))).toHaveProperty("principal");
    expect(keyRequests - before).toBe(1);
  });

  it("refuses a token without a signature (alg none)", async () => {
    expect(await check(new UnsecuredJWT(claims()).encode())).toHaveProperty("refused");
    const [, payload] = (await signed(claims())).split(".");
    for (const alg of ["none", "None", "NONE", "nOnE"]) {
      const header = Buffer.from(JSON.stringify({ alg, kid: "k1" })).toString("base64url");
      expect(await check(`${header}.${payload}.`)).toHaveProperty("refused");
    }
  });

  it("refuses a token that is signed with the public key as a shared secret (key confusion)", async () => {
    const secret = new TextEncoder().encode(await exportSPKI(pair.publicKey));
    const forged = await new SignJWT(claims()).setProtectedHeader({ alg: "HS256", kid: "k1" }).sign(secret);
    expect(await check(forged)).toEqual({ refused: "ERR_JOSE_ALG_NOT_ALLOWED" });
  });

  it("refuses a token that brings its own key, or points to one (kid, jku and jwk injection)", async () => {
    const jwk = await exportJWK(stranger.publicKey);
    const key = stranger.privateKey;
    expect(await check(await signed(claims(), { key }))).toHaveProperty("refused");
    expect(await check(await signed(claims(), { key, kid: "../../dev/null" }))).toHaveProperty("refused");
    expect(await check(await signed(claims(), { key, kid: "k1' OR 1=1" }))).toHaveProperty("refused");
    expect(await check(await signed(claims(), { key, jwk } as never))).toHaveProperty("refused");
    expect(await check(await signed(claims(), { key, jku: `${issuer}/evil` } as never))).toHaveProperty(
      "refused",
    );
  });

  it("refuses a token of another issuer, for another audience, or without either", async () => {
    expect(await check(await signed(claims({ iss: "https://evil.example" })))).toHaveProperty("refused");
    expect(await check(await signed(claims({ aud: "payroll" })))).toHaveProperty("refused");
    for (const name of ["iss", "aud", "exp", "sub"]) {
      const { [name]: _, ...rest } = claims();
      expect(await check(await signed(rest)), name).toHaveProperty("refused");
    }
  });

  it("refuses a token that has expired or isn't valid yet, but for the tolerance", async () => {
    const now = Math.floor(systemClock.now() / 1_000);
    expect(await check(await signed(claims({ exp: now - 60 })))).toEqual({ refused: "ERR_JWT_EXPIRED" });
    expect(await check(await signed(claims({ exp: now - 5 })))).toHaveProperty("principal");
    expect(await check(await signed(claims({ nbf: now + 600 })))).toHaveProperty("refused");
  });

  it("refuses a token that was changed, cut or isn't one", async () => {
    const good = await signed(claims());
    const [header, , signature] = good.split(".");
    const payload = Buffer.from(JSON.stringify(claims({ realm_access: { roles: ["sec"] } }))).toString(
      "base64url",
    );
    for (const bad of [
      `${header}.${payload}.${signature}`,
      good.slice(0, -4),
      "a.b.c",
      "",
      "x".repeat(8_000),
    ])
      expect(await check(bad)).toHaveProperty("refused");
  });

  it("refuses somebody without a role here, also one whose claim is called like a property of objects", async () => {
    for (const roles of [
      [],
      ["cooks"],
      ["constructor", "__proto__", "toString"],
      "ops-not",
      7,
      null,
      { ops: true },
    ])
      expect(await check(await signed(claims({ realm_access: { roles } })))).toEqual({ refused: "no role" });
  });

  it("isn't configured with shared secrets, plain http, an empty audience or roles that don't exist", async () => {
    const wrong: Partial<OidcOptions>[] = [
      { algorithms: ["HS256"] },
      { algorithms: ["none"] },
      { issuer: "http://login.example.com" },
      { jwksUri: "file:///etc/passwd" },
      { audience: "" },
      { roles: {} },
      { roles: { ops: "root" as "admin" } },
    ];
    for (const one of wrong)
      await expect(createOidc({ ...options(), ...one }, systemClock)).rejects.toMatchObject({
        code: "HF-6063",
      });
  });

  it("refuses everybody while the issuer can't be reached, and asks again later", async () => {
    const jwksUri = "http://127.0.0.1:9/keys";
    const oidc = await createOidc({ ...options(), jwksUri }, systemClock);
    expect(await oidc.check(await signed(claims()))).toHaveProperty("refused");
  });
});
