import { silentLogger } from "../../src/core/logger.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, type Workflow } from "../../src/index.ts";
import { createApp } from "../../src/server/app.ts";
import { serve } from "../../src/server/serve.ts";

const NO_LIMIT = { perSecond: 1e6, burst: 1e6 };

/** A server as `holdfast serve` has it, and a `fetch` that has its token for the tests of others. */
export async function serveStreams(
  store: Store,
  workflows: readonly Workflow<never, unknown>[] = [],
): Promise<{ readonly url: string; readonly token: string; stop(): Promise<void> }> {
  const engine = createEngine({ store, workflows });
  const server = await serve({
    store,
    port: 0,
    owner: "ada",
    // The page that the preflight of the protocol's tests comes from.
    origins: ["https://example.com"],
    logger: silentLogger,
    limits: {
      perCredential: NO_LIMIT,
      perAddress: NO_LIMIT,
      streams: { perCredential: 1_000, total: 1_000 },
      // The tests hold the event loop for seconds.
      connection: { idleMs: 120_000 },
    },
    app: (identify) => createApp({ engine, store, identify, longPollMs: 500 }).fetch,
  });
  const token = server.firstToken ?? "";
  const restore = sendToken(server.url, token);
  return {
    url: server.url,
    token,
    async stop() {
      restore();
      await server.stop(0);
      await engine.close();
      await store.close();
    },
  };
}

/** Gives `fetch` the token of a server, for tests of others that know of none. Returns a function that takes it away. */
export function sendToken(url: string, token: string): () => void {
  const plain = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    const isOpen = request.headers.has("authorization") || !request.url.startsWith(url);
    if (!isOpen) request.headers.set("authorization", `Bearer ${token}`);
    return plain(request);
  };
  return () => {
    globalThis.fetch = plain;
  };
}
