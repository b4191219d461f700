/**
 * What is built for Temporal's sandbox: everything in one file but Temporal's own packages, because nothing of Node is there.
 *
 * @param {string} root
 * @returns {import("rolldown").InputOptions}
 */
export const interpreterSandbox = (root) => ({
  cwd: root,
  platform: "neutral",
  resolve: { mainFields: ["module", "main"], conditionNames: ["import", "default"] },
  input: "src/adapters/temporal/interpreter/sandbox.ts",
  external: [/^@temporalio\//],
});
