import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type KmsStandIn, startKms } from "../../test/support/services/kms.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { accepted, creation, everythingOf } from "../testing/conformance/index.ts";
import { type KmsOptions, kmsKeyring } from "./kms-keyring.ts";
import { sealStore } from "./sealed-store.ts";

let kms: KmsStandIn;
beforeAll(async () => {
  // The client signs what it sends; the stand-in does not look at that.
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" });
  kms = await startKms();
});
afterAll(async () => {
  for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
    Reflect.deleteProperty(process.env, name);
  await kms.close();
});
beforeEach(() => {
  kms.fault = null;
  kms.disabled.clear();
});

const ring = (options: Partial<KmsOptions> = {}) =>
  kmsKeyring({ keyId: "alias/one", region: "eu-central-1", endpoint: kms.endpoint, ...options });
const run = (id: string) => creation({ run: { id }, entry: { data: `secret of ${id}` } });

describe("keys in AWS KMS", () => {
  it("wrap the keys of runs, bound to their store and run (S1-47)", async () => {
    const inner = createMemoryStore();
    await accepted(await sealStore(inner, { keyring: await ring() }), run("a"));
    const again = await sealStore(inner, { keyring: await ring() });
    expect((await everythingOf(again, "a")).entries[0]?.data).toBe("secret of a");
    const wrapped = kms.calls.find(
      ({ action, body }) => action === "Encrypt" && JSON.stringify(body).includes('"holdfast:run":"a"'),
    );
    expect(wrapped?.body).toMatchObject({ KeyId: "alias/one", EncryptionContext: { "holdfast:suite": "1" } });
  });

  it("are asked once for a run, however much is read and written", async () => {
    const store = await sealStore(createMemoryStore(), { keyring: await ring() });
    await accepted(store, run("a"));
    const before = kms.calls.length;
    for (let n = 0; n < 5; n++) await everythingOf(store, "a");
    expect(kms.calls.length).toBe(before);
  });

  it.each([
    ["a failing service", { status: 500, type: "KMSInternalException" }],
    ["a missing right", { status: 400, type: "AccessDeniedException" }],
    ["a key in the wrong state", { status: 400, type: "KMSInvalidStateException" }],
    ["no answer", "silent" as const],
  ])("that cannot be had stop what needs them, and nothing else: %s", async (_, fault) => {
    const inner = createMemoryStore();
    const store = await sealStore(inner, { keyring: await ring({ timeoutMs: 300 }) });
    await accepted(store, run("a"));
    const other = await sealStore(inner, { keyring: await ring({ timeoutMs: 300 }) });
    kms.fault = fault;
    await expect(everythingOf(other, "a")).rejects.toMatchObject({ code: "HF-3030" });
    await expect(store.append([run("b")])).rejects.toMatchObject({ code: "HF-3030" });
    expect(await inner.read("b")).toBeNull();
    expect((await everythingOf(store, "a")).entries[0]?.data).toBe("secret of a");
    kms.fault = null;
    expect((await everythingOf(other, "a")).entries[0]?.data).toBe("secret of a");
    await accepted(store, run("b"));
  });

  it("are told apart from a record that they did not wrap", async () => {
    const inner = createMemoryStore();
    const store = await sealStore(inner, { keyring: await ring() });
    await accepted(store, run("a"));
    const keyring = await ring();
    const spoilt = {
      ...keyring,
      unwrap: (_: string, ...rest: [Uint8Array, Record<string, string>]) =>
        keyring.unwrap("alias/two", ...rest),
    };
    await expect(sealStore(inner, { keyring: spoilt })).rejects.toMatchObject({ code: "HF-3040" });
  });

  it("can be changed for others, and switched off then", async () => {
    const inner = createMemoryStore();
    await accepted(await sealStore(inner, { keyring: await ring() }), run("a"));
    const keyring = await ring({ keyId: "alias/two", oldKeyIds: ["alias/one"] });
    expect(await (await sealStore(inner, { keyring })).rotate()).toMatchObject({
      rewrapped: 1,
      complete: true,
    });
    kms.disabled.add("alias/one");
    const store = await sealStore(inner, { keyring: await ring({ keyId: "alias/two" }) });
    expect((await everythingOf(store, "a")).entries[0]?.data).toBe("secret of a");
  });
});
