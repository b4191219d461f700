import { readFileSync } from "node:fs";
import path from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../source-tree.ts";
import { PAGES } from "./addresses.ts";
import { playSample, SAMPLE_FILES } from "./sample.ts";
import { Stage } from "./stage.ts";

const stage = new Stage({ files: SAMPLE_FILES });
let light: Page;
let why = "";

beforeAll(async () => {
  const opened = await stage.open();
  if ("missing" in opened) why = opened.missing;
  else {
    light = opened;
    await playSample(stage);
  }
});
afterAll(() => stage.close());

describe("the pages of the dashboard", () => {
  it("are all tested here", () => {
    const routes = readFileSync(path.join(ROOT, "dashboard/src/routes.tsx"), "utf8");
    const all = [...routes.matchAll(/path: "(\/[^"*]*)/g)].map(([, address = ""]) => address);
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter((address) => !PAGES.some((page) => page.startsWith(address)))).toEqual([]);
  });

  it.for(PAGES)(
    "can be used by everybody, in light and in dark: %s (S1-32, S1-76, S3-32)",
    async (address, { skip }) => {
      if (why) return skip(why);
      await light.goto(`${stage.url}${address}`);
      await light.getByRole("heading", { level: 1 }).waitFor();
      for (const scheme of ["light", "dark"] as const) {
        await light.emulateMedia({ colorScheme: scheme });
        expect((await new AxeBuilder({ page: light }).analyze()).violations).toEqual([]);
      }
      await light.emulateMedia({ colorScheme: "light" });
      expect(stage.complaints).toEqual([]);
    },
  );
});
