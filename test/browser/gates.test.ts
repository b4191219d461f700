import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/client/index.ts";
import { actStage, calls, expectAccessible, FLOWS, reasonIn } from "./act-stage.ts";
import { clientOf, until } from "./sample.ts";

const stage = actStage();
let page: Page;
let client: Client;
let why = "";

beforeAll(async () => {
  const opened = await stage.open("/gates", [FLOWS]);
  if ("missing" in opened) why = opened.missing;
  else {
    page = opened;
    client = await clientOf(stage);
  }
});
afterAll(() => stage.close());

const open = async (id: string, input = {}): Promise<void> => {
  await client.startRun({ workflow: "invoice", id, input });
  await until(client, id, ({ can }) => can.includes("answer"));
};

async function answer(on: Page, choice: string, reason: string): Promise<void> {
  await on.getByRole("radio", { name: choice }).check();
  await reasonIn(on).fill(reason);
  await on.getByRole("button", { name: `Answer: ${choice}` }).click();
}

describe("the gates in the dashboard", () => {
  it("teaches what would be there, then shows a decision as soon as a run asks (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await page.getByText("No decisions waiting").waitFor();
    await expectAccessible(page);
    await open("first");
    await page.getByRole("button", { name: "approve, first" }).waitFor();
    await page.getByText("Pay this invoice?").waitFor();
    await page.getByText("The money is sent at once.").waitFor();
    await expectAccessible(page);
  });

  it("takes an answer with a reason, and the run goes on with it once (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await open("second");
    await page.goto(`${stage.url}/gates?gate=first:approve`);
    await answer(page, "approve", "checked with the supplier");
    await until(client, "first", ({ run }) => run.status === "completed");
    await page.getByRole("article", { name: "approve" }).getByRole("link", { name: "second" }).waitFor();
    expect(calls(stage).filter((one) => one.startsWith("pay"))).toHaveLength(1);
    const { events } = await client.listEvents({ run: "first", after: 0 });
    expect(events.find(({ kind }) => kind === "gate_answered")).toMatchObject({
      reason: "checked with the supplier",
    });
  });

  it("tells the second of two who answer what the first has answered (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/gates?gate=second:approve`);
    await page.getByRole("radio", { name: "approve" }).check();
    await reasonIn(page).fill("checked with the supplier");
    const gate = await client.getGate({ run: "second", gate: "approve" });
    await client.answerGate({ run: "second", gate: "approve", choice: "reject", digest: gate.digest });
    await page.getByText("This gate is closed").waitFor();
    await page.getByText(/gate_answered approve .*admin/).waitFor();
  });

  it("tells whoever asked for a run that another person must answer (A8)", async ({ skip }) => {
    if (why) return skip(why);
    const asker = await stage.window("admin", "/gates");
    await asker.getByText("No decisions waiting").waitFor();
    await asker.evaluate(async () => {
      const session = (await (await fetch("/v1/session")).json()) as { csrf: string };
      await fetch("/v1/runs", {
        method: "POST",
        headers: { "content-type": "application/json", "x-holdfast-csrf": session.csrf },
        body: JSON.stringify({ workflow: "invoice", id: "apart", input: { fourEyes: true } }),
      });
    });
    await asker.getByRole("button", { name: "approve, apart" }).waitFor();
    await asker.getByText("but not those who asked for the run").waitFor();
    await answer(asker, "approve", "I have asked for it myself");
    await asker.getByRole("alert").getByText("HF-6052").waitFor();
    await page.goto(`${stage.url}/gates?gate=apart:approve`);
    await answer(page, "reject", "nobody has ordered this");
    await until(client, "apart", ({ run }) => run.status === "completed");
  });

  it("logs no errors besides the refusals, and asks nothing of another origin", ({ skip }) => {
    if (why) return skip(why);
    expect(stage.complaints.filter((line) => !/status of (?:403|404)/.test(line))).toEqual([]);
  });
});
