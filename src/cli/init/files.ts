/** The files that `holdfast init` writes beside the workflow. */

export const configText = (flow: string): string => `import { defineConfig } from "holdfast/config";

export const config = defineConfig({
  store: "sqlite:./.holdfast/holdfast.db",
  workflows: ["./${flow}"],
});
`;

/** Without a top-level await, so that it also runs in a project of CommonJS. */
export const workerText = (name: string, flow: string): string => `import { createEngine } from "holdfast";
import { openStore } from "holdfast/stores";
import { ${name} } from "./${flow}";

// Continues what an earlier process left behind, then waits for more. Stop it with Ctrl-C.
async function main() {
  const store = await openStore("sqlite:./.holdfast/holdfast.db");
  const engine = createEngine({ store, workflows: [${name}] });
  for (const signal of ["SIGINT", "SIGTERM"])
    process.once(signal, () => engine.close().then(() => process.exit()));
  await engine.work();
}

main();
`;

export const testText = (
  name: string,
  flow: string,
  input: object,
): string => `import assert from "node:assert/strict";
import { test } from "node:test";
import { crashTest, reportToText } from "holdfast/testing";

// Kills the workflow at some of its boundaries, and has another process finish it. limit: 0 tries them all.
test("${name} does nothing twice, wherever its process is killed", async () => {
  const report = await crashTest({ file: "${flow}", input: ${literal(input)}, limit: 4 });
  assert.ok(report.ok, reportToText(report));
});
`;

const literal = (value: object): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, " ")
    .replace(/"(\w+)":/g, "$1:");

export const tsconfigText = `${JSON.stringify(
  {
    compilerOptions: {
      target: "ES2022",
      module: "nodenext",
      types: ["node"],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
    include: ["*.ts", "workflows", "test"],
  },
  null,
  2,
)}\n`;
