import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/client/index.ts";
import { playSample, SAMPLE_FILES, until } from "./sample.ts";
import { Stage, said } from "./stage.ts";

/** A run whose steps end when their files are there. */
const TICKS = `
import { existsSync } from "node:fs";
import { setTimeout as rest } from "node:timers/promises";
import { workflow } from "holdfast";
export const ticks = workflow("ticks", async (ctx) => {
  for (let n = 0; n < 8; n++)
    await ctx.step("tick-" + n, async () => { while (!existsSync(ctx.runId + n)) await rest(5); });
});
`;

const stage = new Stage({ files: { ...SAMPLE_FILES, "ticks.mjs": TICKS } });
let page: Page;
let client: Client;
let why = "";

beforeAll(async () => {
  const opened = await stage.open();
  if ("missing" in opened) {
    why = opened.missing;
    return;
  }
  page = opened;
  ({ client } = await playSample(stage));
  await said(stage.start(["worker", "ticks.mjs"]), /●/);
});
afterAll(() => stage.close());

const tick = (run: string, n: number): void => writeFileSync(path.join(stage.folder, `${run}${n}`), "");
const step = (n: number, on = page) => on.getByRole("treeitem", { name: `tick-${n}` });

/** Notes when each line of the outline is first in the page, by its text. It runs in the page. */
const WATCH = `window.seen = {};
new MutationObserver(() => {
  for (const one of document.querySelectorAll("[role=treeitem] [title]")) window.seen[one.title] ??= Date.now();
}).observe(document.body, { childList: true, subtree: true });`;

describe("a page that somebody looks at", () => {
  it("shows what a worker has committed within half a second (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await client.startRun({ workflow: "ticks", id: "watched" });
    await page.goto(`${stage.url}/r/watched`);
    await step(0).waitFor();
    await page.evaluate(WATCH);
    for (let n = 0; n < 7; n++) {
      tick("watched", n);
      await step(n + 1).waitFor();
    }
    const seen = await page.evaluate<Record<string, number>>("window.seen");
    const { events } = await client.listEvents({ run: "watched", limit: 500 });
    const late = events
      .filter(({ kind, step: name }) => kind === "step_started" && name !== "tick-0")
      .map(({ at, step: name }) => (seen[name] ?? Number.POSITIVE_INFINITY) - at);
    expect(late).toHaveLength(7);
    // A machine that is busy holds up some of them.
    expect(Math.min(...late)).toBeLessThan(500);
  });

  it("says that its server is away, and goes on by itself with what it has missed (S1-32)", async ({
    skip,
  }) => {
    if (why) return skip(why);
    const serve = (port: string) => stage.start(["serve", "--port", port, "--open"]);
    const server = serve("0");
    const link = await said(server, /(http\S+)\/#code=\S+/);
    const { origin, port } = new URL(link);
    const other = await stage.page(link);
    await client.startRun({ workflow: "ticks", id: "missed" });
    await other.goto(`${origin}/r/missed`);
    await step(0, other).waitFor();
    await other.getByText("live", { exact: true }).waitFor();
    server.kill("SIGKILL");
    await other.getByText("reconnecting", { exact: true }).waitFor();
    expect(await step(0, other).count()).toBe(1);
    for (let n = 0; n < 8; n++) tick("missed", n);
    await until(client, "missed", ({ run }) => run.status === "completed");
    await said(serve(port), /(http\S+)\/#code=\S+/);
    await step(7, other).waitFor();
    await other.getByText("completed", { exact: true }).first().waitFor();
    await other.getByText("live", { exact: true }).waitFor();
  });

  it("moves nothing for whoever wants no motion (S1-76)", async ({ skip }) => {
    if (why) return skip(why);
    const moving = `[...document.querySelectorAll("body *")].filter((one) => {
      const { transitionDuration, animationName } = getComputedStyle(one);
      return animationName !== "none" || !/^0s(, 0s)*$/.test(transitionDuration);
    }).length`;
    for (const [reducedMotion, moves] of [
      ["reduce", false],
      ["no-preference", true],
    ] as const) {
      await page.emulateMedia({ reducedMotion });
      await page.goto(`${stage.url}/r/payments-42`);
      await page.getByRole("treeitem").first().waitFor();
      expect((await page.evaluate<number>(moving)) > 0).toBe(moves);
    }
    await page.emulateMedia({ reducedMotion: "reduce" });
  });

  it("shows what an agent has said, with its calls of tools, once somebody has said why (S1-32)", async ({
    skip,
  }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/r/complaint-7?below=conversation`);
    const talk = page.getByRole("tabpanel", { name: "Conversation" });
    await talk.getByText("Hidden: what the agents").waitFor();
    expect(await talk.getByText("My lamp is broken.").count()).toBe(0);
    await talk.getByPlaceholder("Reason, at least 10 characters").fill("answering the customer");
    await talk.getByRole("button", { name: "Reveal" }).click();
    await talk.getByText("My lamp is broken.").waitFor();
    const messages = await talk.getByRole("listitem").allInnerTexts();
    expect(messages.map((text) => text.split("\n")[0])).toEqual([
      "User",
      "Model",
      "lookup",
      "Model",
      "refund",
      "Model",
    ]);
    expect(messages[1]).toMatch(/turn 1 of 3[^]*Let me look at the order first\.[^]*lookup[^]*A-1042/);
    expect(messages[4]).toContain("refunded");
    const { acts } = await client.listActs({ workflow: "complaint" });
    expect(acts.map(({ reason }) => reason)).toContain("answering the customer");
  });
});
