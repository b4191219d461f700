import path from "node:path";
import type { Reporter, TestModule, TestSpecification, Vitest } from "vitest/node";
import { ROOT } from "../../source-tree.ts";
import { filesOfTests } from "./files.ts";
import { idsIn } from "./ids.ts";
import { type Report, readReport, type Seen, writeReport } from "./report.ts";

/**
 * Keeps what the runner saw of the tests that name a requirement, for `test/proven.test.ts`, which runs last, and for
 * `npm run requirements`. A run of some files replaces what is known of those.
 */
export default class RequirementsReporter implements Reporter {
  #vitest: Vitest | undefined;
  #report: Report = { isWhole: false, files: {} };

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const run = new Set(specifications.map(({ moduleId }) => relative(moduleId)));
    const isWhole = !this.#isPicked && filesOfTests().every((file) => run.has(file));
    const known = isWhole ? {} : readReport().files;
    const kept = Object.entries(known).filter(([file]) => this.#isPicked || !run.has(file));
    this.#keep({ isWhole, files: Object.fromEntries(kept) });
  }

  /** Of tests that are picked by name (`-t`) nothing new is kept: the others of a file count as skipped then. */
  get #isPicked(): boolean {
    return this.#vitest?.config.testNamePattern !== undefined;
  }

  onTestModuleEnd(module: TestModule): void {
    if (this.#isPicked) return;
    const seen = [...module.children.allTests()]
      .filter((test) => idsIn(test.fullName).length > 0)
      .map((test): Seen => {
        const { state } = test.result();
        return { title: test.fullName, state: state === "pending" ? "failed" : state };
      });
    if (seen.length === 0) return;
    const file = relative(module.moduleId);
    // Another run of some files may be under way.
    const report = this.#report.isWhole ? this.#report : { ...readReport(), isWhole: false };
    this.#keep({ ...report, files: { ...report.files, [file]: seen } });
  }

  #keep(report: Report): void {
    this.#report = report;
    writeReport(report);
  }
}

const relative = (file: string): string => path.relative(ROOT, file).split(path.sep).join("/");
