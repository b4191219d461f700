import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Client } from "../../src/client/index.ts";
import { ACT_FLOWS } from "./act-flows.ts";
import { until } from "./sample.ts";
import { Stage, type StageOptions, said } from "./stage.ts";

export const FLOWS = "flows.mjs";

/** A stage whose server has the workflows of the acts, and advances their runs. */
export const actStage = (options: StageOptions = {}): Stage =>
  new Stage({ files: { [FLOWS]: ACT_FLOWS }, ...options });

/** Puts the file there that a step waits for. */
export const put = (stage: Stage, name: string): void => writeFileSync(path.join(stage.folder, name), "");

/** What the steps have called. */
export const calls = (stage: Stage): readonly string[] =>
  readFileSync(path.join(stage.folder, "calls.txt"), "utf8").trim().split("\n");

export const reasonIn = (page: Page | Locator): Locator => page.getByLabel("Reason", { exact: true });

/** Shown as it is, in light and in dark, it can be used by everybody. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  }
}

/** Lets a worker begin a call that may happen once only, kills the worker, and waits until a person is asked. */
export async function leaveInDoubt(stage: Stage, client: Client, id: string): Promise<void> {
  const worker = stage.start(["run", `${FLOWS}#transfer`, "--id", id]);
  await said(worker, /sends the money/);
  worker.kill("SIGKILL");
  await until(client, id, ({ can }) => can.includes("resolve"));
}
