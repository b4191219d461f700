import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
  it.for(PAGES)("can be used by everybody, in light and in dark: %s (S1-32)", async (path, { skip }) => {
    if (why) return skip(why);
    await light.goto(`${stage.url}${path}`);
    await light.getByRole("heading", { level: 1 }).waitFor();
    for (const scheme of ["light", "dark"] as const) {
      await light.emulateMedia({ colorScheme: scheme });
      expect((await new AxeBuilder({ page: light }).analyze()).violations).toEqual([]);
    }
    await light.emulateMedia({ colorScheme: "light" });
    expect(stage.complaints).toEqual([]);
  });
});
