import { describe, expect, it, vi } from "vitest";
import { openPostgresStore } from "./index.ts";

vi.mock("pg", () => {
  throw new Error("Cannot find package 'pg'");
});

describe("a connection string without the package pg", () => {
  it("is answered with how to install it", async () => {
    const failure = await openPostgresStore({ connectionString: "postgresql://localhost/x" }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      code: "HF-3015",
      fix: "npm install pg",
    });
  });
});
