import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, each in its project. One that begins last keeps a single core busy while the others wait. */
const LONG = [
  "test/examples.test.ts",
  "test/crash/matrix.test.ts",
  "test/docs-commands.test.ts",
  "test/crash/retention-beside.test.ts",
  "test/crash/fronts.test.ts",
  "test/crash/stores.test.ts",
  "test/crash/served-streams.test.ts",
  "test/crash/retention.test.ts",
  "test/create.test.ts",
  "test/crash/acts.test.ts",
  "test/crash/outages.test.ts",
  "test/crash/recovery.test.ts",
  "test/crash/zombies.test.ts",
  "test/browser/runs.test.ts",
  "test/browser/dialogs.test.ts",
  "src/stores/postgres/durable-streams.test.ts",
  "src/stores/dynamodb/conformance.test.ts",
  "src/core/manage/transfer/transfer.test.ts",
  "src/core/control/interleavings.test.ts",
  "src/cli/hostile.test.ts",
  "src/security/conformance.test.ts",
];

const place = ({ moduleId }: TestSpecification): number => {
  const at = LONG.findIndex((name) => moduleId.endsWith(`/${name}`));
  return at < 0 ? LONG.length : at;
};

/** Begins with the longest files. Without it, a fresh clone begins with the largest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
