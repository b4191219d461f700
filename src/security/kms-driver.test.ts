import { describe, expect, it, vi } from "vitest";
import { kmsKeyring } from "./kms-keyring.ts";

vi.mock("@aws-sdk/client-kms", () => {
  throw new Error("Cannot find package '@aws-sdk/client-kms'");
});

describe("keys in AWS KMS without the package @aws-sdk/client-kms", () => {
  it("are answered with how to install it", async () => {
    await expect(kmsKeyring({ keyId: "alias/one" })).rejects.toMatchObject({
      code: "HF-3035",
      fix: "npm install @aws-sdk/client-kms",
    });
  });
});
