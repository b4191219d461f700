import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "rolldown";
import { beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../source-tree.ts";
import { useFolders } from "../support/folders.ts";

/** A project of a user: real files, and the built package. */
const project = path.join(useFolders("places")(), "project");

const HELPER = `
export interface Doc {
  readonly meta?: { readonly title: string };
}

export function titleOf(doc: Doc): string {
  return doc.meta!.title.toUpperCase();
}
`;

/** Its enum needs tsx, which compiles it to fewer lines. */
const FLOW = `import { workflow } from "holdfast";
import { titleOf, type Doc } from "./helper.ts";

enum Kind {
  Report = "report",
}

class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status = 429;
  readonly headers = new Headers({ "retry-after": "120", "x-request-id": "req_7", "set-cookie": "id=hidden" });
  readonly config = { headers: { authorization: "Basic hidden" } };
}

export const broken = workflow("broken", async (ctx) => {
  await ctx.step("load", () => Kind.Report);
  const doc: Doc = {};
  return ctx.step("title", () => titleOf(doc));
});

export const limited = workflow("limited", (ctx) =>
  ctx.step(
    "ask",
    () => {
      throw new Error("the model did not answer", { cause: new ApiError("slow down") });
    },
    { retry: { attempts: 1 } },
  ),
);
`;

function holdfast(...args: readonly string[]) {
  const main = path.join(ROOT, "dist/cli/main.js");
  const { stdout, stderr, status } = spawnSync(process.execPath, [main, ...args], {
    cwd: project,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
    timeout: 60_000,
  });
  return { stdout, stderr, status, json: <T>() => JSON.parse(stdout) as T };
}

const lineOf = (text: string, part: string): number =>
  text.split("\n").findIndex((line) => line.includes(part)) + 1;

beforeAll(async () => {
  mkdirSync(path.join(project, "node_modules"), { recursive: true });
  symlinkSync(ROOT, path.join(project, "node_modules/holdfast"));
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  writeFileSync(path.join(project, "helper.ts"), HELPER);
  writeFileSync(path.join(project, "flow.ts"), FLOW);
  await build({
    cwd: project,
    input: "flow.ts",
    external: ["holdfast"],
    output: { dir: path.join(project, "out"), format: "esm", sourcemap: "inline" },
  });
});

describe("a run that fails in somebody's code (C4)", () => {
  it("names the file and the line, and does not advise to resume what would fail again", () => {
    const at = `helper.ts:${lineOf(HELPER, "meta!")}:20`;
    const { stderr, status } = holdfast("run", "flow.ts#broken", "--id", "b1", "-v");
    expect(stderr).toContain(`At    ${at}`);
    expect(stderr).toContain(`Fix   Change the code at ${at}`);
    expect(stderr).toContain(`flow.ts:${lineOf(FLOW, "titleOf(doc))")}`);
    expect(stderr).not.toMatch(/parts\/core|node:async_hooks/);
    expect(status).toBe(1);
    const shown = holdfast("show", "b1:title", "-v").stdout;
    expect(shown).toContain(`thrown at   ${at}`);
    expect(shown).not.toMatch(/parts\/core|node:async_hooks/);
  });

  it("is traced through the source map of compiled code, and keeps the fields of its cause, but no credentials", () => {
    const cause = {
      name: "ApiError",
      message: "slow down",
      status: 429,
      headers: { "retry-after": "120", "x-request-id": "req_7" },
    };
    const ran = holdfast("run", "out/flow.js#limited", "--id", "l1", "--json");
    const { error } = ran.json<{ error: { at: string } }>();
    expect(error.at).toMatch(new RegExp(`^flow.ts:${lineOf(FLOW, "new ApiError(")}:\\d+$`));
    expect(error).toMatchObject({ cause: { cause }, fix: ["holdfast resume l1 --after 2m"] });
    const shown = holdfast("show", "l1:ask", "--json");
    const { attempts } = shown.json<{ attempts: { error: object }[] }>();
    expect(attempts[0]?.error).toMatchObject({ message: "the model did not answer", cause });
    expect(ran.stdout + shown.stdout).not.toContain("hidden");
  });
});
