import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openPgliteStore } from "./index.ts";

vi.mock("@electric-sql/pglite", () => {
  throw new Error("Cannot find package '@electric-sql/pglite'");
});

describe("a folder without the package @electric-sql/pglite", () => {
  it("is answered with how to install it, and is not made", async () => {
    const folder = path.join(tmpdir(), `holdfast-none-${process.pid}`);
    await expect(openPgliteStore({ folder })).rejects.toMatchObject({
      code: "HF-3015",
      fix: "npm install @electric-sql/pglite",
    });
    expect(existsSync(folder)).toBe(false);
  });
});
