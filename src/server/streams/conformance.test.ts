import { runConformanceTests } from "@durable-streams/server-conformance-tests";
import { afterAll, beforeAll, describe } from "vitest";
import { useFolders } from "../../../test/support/folders.ts";
import { serveStreams } from "../../../test/support/streams.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";

const newFile = useFolders("streams");

/**
 * The protocol's own tests. Its subscriptions (webhooks and wake-ups of workers, section 6) are optional and don't apply:
 * whoever wants to be woken starts a run, or signals one.
 */
describe("the Durable Streams protocol on SQLite", () => {
  const config = { baseUrl: "", longPollTimeoutMs: 500 };
  let stop = async (): Promise<void> => undefined;
  beforeAll(async () => {
    const served = await serveStreams(await openSqliteStore({ file: newFile() }));
    config.baseUrl = served.url;
    stop = served.stop;
  });
  afterAll(() => stop());
  runConformanceTests(config);
});
