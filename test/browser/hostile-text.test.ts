import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PAGES } from "./addresses.ts";
import { clientOf, until } from "./sample.ts";
import { Stage, said } from "./stage.ts";

/** Each would run, load or rewrite something if a page took it for markup. */
const CORPUS = [
  `<img src=x onerror="window.pwned=1">`,
  `"><script>window.pwned=1</script>`,
  `</textarea></title><svg/onload=window.pwned=1>`,
  `<a href="javascript:window.pwned=1">a</a>`,
  `<iframe srcdoc="<script>parent.pwned=1</script>">`,
  `{{constructor.constructor("window.pwned=1")()}}`,
  `<style>body{display:none}</style>`,
  `https://elsewhere.example/pixel.png`,
];
const ALL = CORPUS.join(" ");
/** Steps and gates may have no slashes and brackets in their names. */
const GATE = "<img src=x onerror=window.pwned=1>";

const FLOW = `
import { workflow } from "holdfast";
const corpus = ${JSON.stringify(CORPUS)};
const all = corpus.join(" ");
export const hostile = workflow(corpus[0], async (ctx, input) => {
  ctx.memory.set(corpus[3], all);
  ctx.decide({ description: all, type: corpus[1], rationale: all, alternatives: corpus });
  for (const text of corpus)
    await ctx.step(text.replaceAll("/", ""), () => ({ [text]: all }), { input: { [text]: all } });
  await ctx.gate(${JSON.stringify(GATE)}, { show: { [all]: corpus }, choices: [corpus[0], corpus[3]] });
  await ctx.step(corpus[0] + " fails", () => { throw new Error(all); }, { retry: false });
});
`;

const stage = new Stage({ files: { "flow.mjs": FLOW } });
let page: Page;
let why = "";

beforeAll(async () => {
  const opened = await stage.open();
  if ("missing" in opened) {
    why = opened.missing;
    return;
  }
  page = opened;
  const client = await clientOf(stage);
  await said(stage.start(["worker", "flow.mjs"]), /●/);
  const [workflow = "", schedule = ""] = CORPUS;
  const labels = { [CORPUS[2] ?? ""]: ALL.slice(0, 100) };
  for (const id of ["asks", "fails"])
    await client.startRun({
      id,
      workflow,
      name: ALL.slice(0, 100),
      labels,
      queue: CORPUS[5] ?? "",
      key: ALL.slice(0, 100),
      input: { [ALL]: ALL },
    });
  for (const run of ["asks", "fails"])
    await until(client, run, ({ run: { status } }) => status === "waiting");
  await client.answerGate({ run: "fails", gate: GATE, choice: workflow, reason: ALL });
  await until(client, "fails", ({ word }) => word.startsWith("failed"));
  await client.injectContext({ run: "asks", context: { [ALL]: ALL }, reason: ALL });
  await client.setQueue({ name: CORPUS[0] ?? "", concurrency: 1, reason: ALL });
  await client.createSchedule({ name: schedule, workflow, options: { cron: "0 0 1 1 *", input: ALL } });
  await client.putView({ name: CORPUS[2] ?? "", query: `text=${encodeURIComponent(workflow)}` });
});
afterAll(() => stage.close());

describe("texts that runs, models and people write", () => {
  it.for(PAGES)("stay texts: %s", async (address, { skip }) => {
    if (why) return skip(why);
    for (const run of ["asks", "fails"]) {
      await page.goto(`${stage.url}${address.replaceAll("payments-42", run)}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      if (!address.includes("payments-42")) break;
    }
    await page.getByText("Loading…").first().waitFor({ state: "hidden" });
    expect(await page.evaluate("window.pwned")).toBeUndefined();
    expect(await page.locator("main :is(iframe, script, img[src=x], style)").count()).toBe(0);
    expect(stage.complaints).toEqual([]);
  });
});
