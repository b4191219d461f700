import { runConformanceTests } from "@durable-streams/server-conformance-tests";
import { afterAll, beforeAll, describe } from "vitest";
import { Stage } from "../browser/stage.ts";
import { isExhaustive } from "../support/exhaustive.ts";
import { startPostgres } from "../support/services/postgres.ts";
import { sendToken } from "../support/streams.ts";

/** The protocol's tests send thousands of requests under one token, from one address and from another page. */
const CONFIG = `server:
  allow_origins: ["https://example.com"]
  limits:
    per_token: { per_second: 1000000, burst: 1000000 }
    per_address: { per_second: 1000000, burst: 1000000 }
`;

// In a process of its own PostgreSQL takes minutes and shows little more than inside this one.
const postgres = isExhaustive ? await startPostgres() : null;
afterAll(() => postgres?.remove());
const STORES: readonly [name: string, place: { readonly store?: string }][] = [
  ["SQLite", {}],
  ...(postgres ? [["PostgreSQL", { store: postgres.url }] as [string, { readonly store: string }]] : []),
];

/** Without its subscriptions, as inside this process (see src/server/streams/conformance.test.ts). */
describe.each(STORES)("the Durable Streams protocol of a spawned holdfast serve on %s", (_, place) => {
  const config = { baseUrl: "", longPollTimeoutMs: 20_000 };
  const stage = new Stage({ ...place, files: { "holdfast.config.yaml": CONFIG } });
  let restore = (): void => undefined;
  beforeAll(async () => {
    await stage.serve();
    config.baseUrl = stage.url;
    restore = sendToken(stage.url, await stage.token("streamer"));
  });
  afterAll(async () => {
    restore();
    await stage.close();
  });
  runConformanceTests(config);
});
