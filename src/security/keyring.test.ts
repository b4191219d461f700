import { chmodSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { keyOf } from "../../test/support/sealed.ts";
import { envKeyring } from "./env-keyring.ts";
import { envSecrets } from "./env-secrets.ts";
import { fileKeyring } from "./file-keyring.ts";

const base64 = (id: string): string => Buffer.from(keyOf(id)).toString("base64");
const context = { run: "run-1" };
const secret = keyOf("a run");

describe("keys from the environment", () => {
  const variable = "HOLDFAST_TEST_KEYS";
  afterEach(() => Reflect.deleteProperty(process.env, variable));

  it("wrap by the first key, and unwrap by all of them", async () => {
    process.env[variable] = `k1:${base64("k1")}`;
    const wrapped = await envKeyring(variable).wrap("k1", secret, context);
    process.env[variable] = ` k2:${base64("k2")} , k1:${base64("k1")}`;
    const keyring = envKeyring(variable);
    expect([keyring.current, keyring.ids()]).toEqual(["k2", ["k2", "k1"]]);
    expect(await keyring.unwrap("k1", wrapped, context)).toEqual(secret);
  });

  it("need no name when there is only one, as openssl prints it (C7)", () => {
    process.env[variable] = base64("k1");
    expect(envKeyring(variable).ids()).toEqual(["k1"]);
  });

  it("open nothing that another key wrapped, or that was wrapped for something else", async () => {
    process.env[variable] = `k2:${base64("k2")},k1:${base64("k1")}`;
    const keyring = envKeyring(variable);
    const wrapped = await keyring.wrap("k1", secret, context);
    expect(await keyring.unwrap("k2", wrapped, context)).toBeNull();
    expect(await keyring.unwrap("k1", wrapped, { run: "run-2" })).toBeNull();
    expect(await keyring.unwrap("none", wrapped, context)).toBeNull();
  });

  it.each([
    ["nothing", ""],
    ["no names", `${base64("k1")},${base64("k2")}`],
    ["a short key", "k1:c2hvcnQ="],
    ["no base64", `k1:${"!".repeat(44)}`],
    ["one name twice", `k1:${base64("k1")},k1:${base64("k2")}`],
  ])("are refused with %s, in words that hold no key", (_, text) => {
    process.env[variable] = text;
    const refusal = expect.objectContaining({ code: "HF-3034" });
    expect(() => envKeyring(variable)).toThrow(refusal);
    expect(() => envKeyring(variable)).not.toThrow(base64("k1"));
  });
});

describe("keys from a file", () => {
  const newFolder = useFolders("keys");
  let changes = 0;
  const write = (file: string, current: string, ids: readonly string[], mode = 0o600) => {
    const keys = Object.fromEntries(ids.map((id) => [id, base64(id)]));
    writeFileSync(file, JSON.stringify({ current, keys }), { mode });
    chmodSync(file, mode);
    // Makes two writes within one tick of the file system's clock distinguishable.
    utimesSync(file, 1_000, 1_000 + ++changes);
  };
  const newFile = (): string => {
    const folder = newFolder();
    mkdirSync(folder);
    return path.join(folder, "keys.json");
  };

  it("wrap by the current one", async () => {
    const file = newFile();
    write(file, "k2", ["k1", "k2"]);
    const keyring = fileKeyring(file);
    expect(keyring.ids()).toEqual(["k2", "k1"]);
    const wrapped = await keyring.wrap("k2", secret, context);
    expect(await keyring.unwrap("k2", wrapped, context)).toEqual(secret);
  });

  it("count as soon as the file has changed, and stay while it is gone or half written", () => {
    const file = newFile();
    write(file, "k1", ["k1"]);
    const keyring = fileKeyring(file);
    write(file, "k2", ["k2", "k1"]);
    expect(keyring.current).toBe("k2");
    writeFileSync(file, '{"current":');
    expect(keyring.ids()).toEqual(["k2", "k1"]);
    rmSync(file);
    expect(keyring.ids()).toEqual(["k2", "k1"]);
    write(file, "k3", ["k3"]);
    expect(keyring.ids()).toEqual(["k3"]);
  });

  it("are refused when others may read the file, or when it is none", () => {
    const file = newFile();
    const refusal = (problem: string) =>
      expect.objectContaining({ code: "HF-3034", message: expect.stringContaining(problem) });
    expect(() => fileKeyring(file)).toThrow(refusal("ENOENT"));
    for (const mode of [0o640, 0o604, 0o620]) {
      write(file, "k1", ["k1"], mode);
      expect(() => fileKeyring(file)).toThrow(refusal("others may read"));
    }
    write(file, "k2", ["k1"]);
    expect(() => fileKeyring(file)).toThrow(refusal("not among its keys"));
    for (const text of ["no JSON", "[]", "null", '{"current":"k1"}', '{"current":"k1","keys":{"k1":1}}']) {
      writeFileSync(file, text);
      expect(() => fileKeyring(file)).toThrow(refusal(""));
    }
  });
});

describe("secrets from the environment", () => {
  it("are those of a prefix, and no others", () => {
    process.env["AGENT_TEST_TOKEN"] = "the token";
    expect(envSecrets({ prefix: "AGENT_" }).get("TEST_TOKEN")).toBe("the token");
    expect(envSecrets().get("AGENT_TEST_TOKEN")).toBe("the token");
    expect(envSecrets({ prefix: "AGENT_" }).get("PATH")).toBeUndefined();
    Reflect.deleteProperty(process.env, "AGENT_TEST_TOKEN");
  });
});
