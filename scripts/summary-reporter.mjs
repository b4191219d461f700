/**
 * Prints one machine-readable last line over all projects: `N passed, N failed, N skipped`.
 * A file that could not be loaded, and an error outside any test, count as one failure each.
 */
export default class SummaryReporter {
  /**
   * @param {ReadonlyArray<import("vitest/node").TestModule>} modules
   * @param {ReadonlyArray<unknown>} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors = []) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      const failedBefore = count.failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state === "pending" ? "failed" : state] += 1;
      }
      if (module.state() === "failed" && count.failed === failedBefore) count.failed += 1;
    }
    process.stdout.write(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
  }
}
