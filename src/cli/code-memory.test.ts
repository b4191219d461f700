import { afterAll, expect, it } from "vitest";
import { cliFolder } from "../../test/support/cli.ts";

const folder = cliFolder();
afterAll(() => folder.remove());

const flow = (version: string, migrations: string): string => `
export const order = { name: "order", version: "${version}", schema: 1, compensateOnFailure: false, migrations: ${migrations},
  body: async (ctx) => {
    await ctx.gate("ok", { choices: ["approve"] });
    return "${version}";
  } };
`;

it("a migrated run goes on with the file that it was migrated to (C6)", async () => {
  folder.write("v1.mjs", flow("1", "[]"));
  folder.write("v2.mjs", flow("2", '[{ from: "1", to: "2" }]'));
  expect((await folder.run("run v1.mjs --id o1")).code).toBe(75);
  const migrated = await folder.run("migrate v2.mjs --yes");
  expect([migrated.code, migrated.stdout]).toEqual([0, expect.stringContaining("1 migrated")]);
  await folder.run("gate approve o1");
  const { code, stdout } = await folder.run("resume o1");
  expect([code, stdout]).toEqual([0, "2\n"]);
});
