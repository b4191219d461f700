import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Stage } from "./stage.ts";

const stage = new Stage();
let page: Page | null = null;

beforeAll(async () => {
  const opened = await stage.open();
  page = "missing" in opened ? null : opened;
});
afterAll(() => stage.close());

describe("signing in to the dashboard", () => {
  it("opens signed in from the link of serve --open, and the code leaves the address", async ({ skip }) => {
    if (!page) return skip("Chromium is missing");
    await page.getByRole("heading", { name: "Needs you" }).waitFor();
    expect(page.url()).toBe(`${stage.url}/`);
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  });

  it("takes a link once only, then asks for a token, and refuses a wrong one", async ({ skip }) => {
    if (!page) return skip("Chromium is missing");
    const [token] =
      (await stage.run(["token", "create", "me", "--role", "viewer"])).stdout.match(/hf_\S+/) ?? [];
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token", { exact: true }).fill("hf_0123456789abcdef_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("isn't valid").waitFor();
    await page.getByLabel("Token", { exact: true }).fill(token ?? "");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Needs you" }).waitFor();
    expect(await page.context().cookies()).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
  });

  it("logs no errors, and asks nothing of another origin", ({ skip }) => {
    if (!page) return skip("Chromium is missing");
    expect(stage.complaints).toEqual([]);
  });
});
