import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { ROOT } from "../source-tree.ts";
import { startBrowser } from "../support/services/chromium.ts";
import { Stage, said } from "./stage.ts";

const EXAMPLE = path.join(ROOT, "examples/streaming-chat");
const FILES = ["flow.ts", "model.ts", "routes.ts", "server.ts", "page.html"];

/** The fifteen words before which the model kills the first worker. The page may get the last of them after its death. */
const FIRST_SAID = "Sunlight holds every colour. Air scatters blue light far more than red light, so blue ";
/** The words after which the model keeps the second worker waiting, so that it can't finish before it is killed. */
const SECOND_SAYS = "20";

/** The model takes its time, so that the page can be reloaded while it speaks. */
const env = { WORD_MS: "150", PORT: "0" };
const stage = new Stage({
  env,
  files: {
    ...Object.fromEntries(FILES.map((name) => [name, readFileSync(path.join(EXAMPLE, name), "utf8")])),
    "package.json": JSON.stringify({ type: "module" }),
  },
});
for (const name of ["tsx", "ai", "@hono"])
  symlinkSync(path.join(ROOT, "node_modules", name), path.join(stage.folder, "node_modules", name));
const closing: (() => unknown)[] = [() => stage.close()];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** Starts the example's own server and returns its address. */
async function serve(): Promise<string> {
  const server = spawn(process.execPath, ["--import", "tsx", "server.ts"], { cwd: stage.folder, env });
  closing.push(() => server.kill("SIGKILL"));
  return said(server, /http:\S+/);
}

/** Notes every text that the page shows, over reloads. */
async function witness(page: Page): Promise<string[]> {
  const shown: string[] = [];
  await page.exposeFunction("note", (text: string) => shown.push(text));
  await page.addInitScript(() => {
    const note = (globalThis as unknown as { note(text: string): void }).note;
    const { document, MutationObserver } = globalThis as unknown as {
      document: { querySelector(one: string): { textContent: string } | null };
      MutationObserver: new (call: () => void) => { observe(on: unknown, how: object): void };
    };
    new MutationObserver(() => note(document.querySelector("[role=log]")?.textContent ?? "")).observe(
      document,
      {
        childList: true,
        subtree: true,
      },
    );
  });
  return shown;
}

/** The page shows more than this many characters. */
const showsMore = (page: Page, than: number): Promise<unknown> =>
  page.waitForFunction(`document.querySelector("[role=log]").textContent.length > ${than}`);

const shownBy = async (page: Page): Promise<string> => (await page.getByRole("log").textContent()) ?? "";

it("a chat completes its answer over a reload and two killed workers, and shows no word twice", async ({
  skip,
}) => {
  const started = await startBrowser();
  if ("missing" in started) return skip(started.missing);
  closing.push(() => started.browser.close());
  const page = await started.browser.newPage();
  const shown = await witness(page);
  await page.goto(await serve());
  await page.getByRole("button", { name: "Ask" }).click();

  // The model kills the first worker itself, in the middle of the answer.
  const first = stage.start(["worker", "flow.ts"]);
  const died = once(first, "exit");
  await showsMore(page, 20);
  await page.reload();
  await showsMore(page, 20);
  expect(await died).toEqual([null, "SIGKILL"]);

  // The second is killed from outside, when it has said what the first cannot have said.
  const second = stage.start(["worker", "flow.ts"], { STUCK_AFTER: SECOND_SAYS });
  await showsMore(page, FIRST_SAID.length);
  second.kill("SIGKILL");
  expect(await once(second, "exit")).toEqual([null, "SIGKILL"]);
  await page.reload();
  await showsMore(page, 20);
  expect(await page.getByRole("log").getAttribute("aria-busy")).toBe("true");

  stage.start(["worker", "flow.ts"]);
  await page.locator("[role=log][aria-busy=false]").waitFor();
  const answer = await shownBy(page);
  expect(answer).toMatch(/^Sunlight holds .* and red is left\.$/);
  // Whatever was ever shown is how the answer begins: nothing was doubled, lost or changed.
  expect(shown.filter((text) => !answer.startsWith(text))).toEqual([]);
  expect(shown.length).toBeGreaterThan(10);
  expect(readFileSync(path.join(stage.folder, "calls.log"), "utf8")).toBe("model\n".repeat(3));
  await page.reload();
  await page.locator("[role=log][aria-busy=false]").waitFor();
  expect(await shownBy(page)).toBe(answer);
});
