import { gzipSync } from "node:zlib";
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actStage, FLOWS } from "./act-stage.ts";
import { clientOf, until } from "./sample.ts";

const stage = actStage();
let page: Page;
let why = "";

beforeAll(async () => {
  const opened = await stage.open("/", [FLOWS]);
  if ("missing" in opened) {
    why = opened.missing;
    return;
  }
  page = opened;
  const client = await clientOf(stage);
  await client.startRun({ workflow: "report", id: "report", input: { factor: 2 } });
  await until(client, "report", ({ run }) => run.status === "failed");
});
afterAll(() => stage.close());

/** What a page asks the server for until it stands, in order. */
async function requestsOf(address: string, shown: string, on = page): Promise<readonly Request[]> {
  const requests: Request[] = [];
  const hear = (request: Request): void => void requests.push(request);
  await on.goto("about:blank");
  on.on("request", hear);
  await on.goto(`${stage.url}${address}`);
  await on.locator(shown).first().waitFor();
  on.off("request", hear);
  return requests;
}

const questions = (requests: readonly Request[]): readonly string[] =>
  requests.flatMap((request) => {
    const { pathname, search } = new URL(request.url());
    return pathname.startsWith("/v1/") ? [`${pathname}${search}`] : [];
  });

describe("a page of the dashboard, when it is opened", () => {
  it.for([
    ["/", "main article, main li", ["/v1/needs-you?limit=100"]],
    ["/runs", "main tbody tr", ["/v1/runs?limit=100"]],
    ["/r/report", "main [role=treeitem]", ["/v1/runs/report", "/v1/runs/report/outline?limit=500"]],
  ] as const)(
    "asks for what it shows first along with who looks, and only once: %s (S1-32)",
    async ([address, shown, first], { skip }) => {
      if (why) return skip(why);
      const asked = questions(await requestsOf(address, shown));
      expect(asked.slice(0, 2 + first.length)).toEqual(["/v1/session", "/v1/events", ...first]);
      for (const question of first) expect(asked.filter((one) => one === question)).toEqual([question]);
    },
  );

  it("asks only who looks when nobody is signed in", async ({ skip }) => {
    if (why) return skip(why);
    const stranger = await page.context().browser()?.newContext();
    const other = await stranger?.newPage();
    if (!other) throw new Error("no browser");
    expect(questions(await requestsOf("/r/report", "form", other))).toEqual(["/v1/session"]);
    await stranger?.close();
  });

  it.for(["/", "/runs", "/r/report"])(
    "loads at most 200 KB of code, compressed: %s",
    async (address, { skip }) => {
      if (why) return skip(why);
      const requests = await requestsOf(address, "main h1");
      const files = requests.filter((request) => new URL(request.url()).pathname.startsWith("/assets/"));
      const bodies = await Promise.all(
        files.map(async (file) => (await page.request.get(file.url())).body()),
      );
      expect(files.length).toBeGreaterThan(5);
      expect(bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)).toBeLessThanOrEqual(200_000);
    },
  );

  it("says so when its code can't be loaded, and loads again", async ({ skip }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/runs`);
    await page.route("**/assets/gates-*.js", (route) => route.abort());
    await page.getByRole("link", { name: "Gates" }).click();
    const said = page.getByRole("alert");
    await said.getByText("couldn't be loaded").waitFor();
    await page.unroute("**/assets/gates-*.js");
    await said.getByRole("button", { name: "Load the page again" }).click();
    await page.getByRole("heading", { level: 1, name: "Gates" }).waitFor();
  });
});
