import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { generatedPages } from "../scripts/docs/generated.ts";
import { errorTable } from "../src/core/errors.ts";
import { ROOT } from "./source-tree.ts";

describe("the generated pages of the documentation", () => {
  it("are what the sources say; otherwise run npm run docs", async () => {
    const stale = [...(await generatedPages())].filter(([file, text]) => {
      const target = path.join(ROOT, file);
      return !existsSync(target) || readFileSync(target, "utf8") !== text;
    });
    expect(stale.map(([file]) => file)).toEqual([]);
  });

  it("show nothing that only the package itself may call", async () => {
    const shown = [...(await generatedPages())].filter(([, text]) => text.includes("@internal"));
    expect(shown.map(([file]) => file)).toEqual([]);
  });

  it("have a page for each error code", async () => {
    const { default: route } = (await import(
      new URL("../docs/errors/[code].paths.mjs", import.meta.url).href
    )) as { default: { paths(): { params: { code: string }; content: string }[] } };
    const found = route.paths();
    expect(found.map(({ params }) => params.code)).toEqual(Object.keys(errorTable).sort());
    for (const { content } of found) expect(content).toMatch(/^\*\*.+\*\*\n\n- \*\*Why:\*\* .+\n- \*\*Safe:/);
  });

  it("explain every name that people import to write workflows, agents and tests", async () => {
    const explained = /reference\/(?!manage|server|client|index)/;
    const bare = [...(await generatedPages())].flatMap(([file, text]) =>
      explained.test(file)
        ? [...text.matchAll(/^### (\w+)\n\n```typescript/gm)].map(([, name = ""]) => `${file}: ${name}`)
        : [],
    );
    expect(bare).toEqual([]);
  });
});
