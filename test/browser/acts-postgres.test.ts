import { afterAll, expect, it } from "vitest";
import { type PostgresServer, startPostgres } from "../support/services/postgres.ts";
import { actStage, calls, FLOWS, put, reasonIn } from "./act-stage.ts";
import { clientOf, until } from "./sample.ts";
import type { Stage } from "./stage.ts";

let server: PostgresServer | null = null;
let stage: Stage | null = null;

afterAll(async () => {
  await stage?.close();
  await server?.remove();
});

it("resumes by its plan and answers a gate on PostgreSQL (S1-32)", async ({ skip }) => {
  server = await startPostgres();
  if (!server) return skip("PostgreSQL is missing");
  stage = actStage({ store: server.url });
  const page = await stage.open("/", [FLOWS]);
  if ("missing" in page) return skip(page.missing);
  const client = await clientOf(stage);
  await client.startRun({ workflow: "report", id: "alert" });
  await client.startRun({ workflow: "invoice", id: "bill" });
  await until(client, "alert", ({ run }) => run.status === "failed");
  put(stage, "fixed");
  await page.goto(`${stage.url}/r/alert`);
  await page.getByRole("button", { name: "Resume…" }).click();
  await reasonIn(page).fill("the disk has been cleaned up");
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByText("completed", { exact: true }).first().waitFor();

  await page.goto(`${stage.url}/r/bill`);
  await page.getByRole("button", { name: "Answer…" }).click();
  await page.getByRole("radio", { name: "approve" }).check();
  await reasonIn(page).fill("checked with the supplier");
  await page.getByRole("button", { name: "Answer: approve" }).click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  expect(calls(stage).map((one) => one.split(" ")[0])).toEqual(["load", "publish", "publish", "pay"]);
  expect(stage.complaints).toEqual([]);
});
