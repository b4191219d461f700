import { describe, expect, it, vi } from "vitest";
import { openDynamoStore } from "./index.ts";

vi.mock("@aws-sdk/client-dynamodb", () => {
  throw new Error("Cannot find package '@aws-sdk/client-dynamodb'");
});

describe("the store without the package @aws-sdk/client-dynamodb", () => {
  it("is answered with how to install it", async () => {
    const client = { send: async () => undefined };
    for (const options of [{ region: "eu-central-1" }, { client }])
      await expect(openDynamoStore(options)).rejects.toMatchObject({
        code: "HF-3015",
        fix: "npm install @aws-sdk/client-dynamodb",
      });
  });
});
