import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { ROOT } from "../../../test/source-tree.ts";
import { startRedis } from "../../../test/support/services/redis.ts";
import { missing } from "../../../test/support/services/service.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { openRedisStore } from "./index.ts";

/** What a server does that nobody has configured for a store. */
const CARELESS = { appendonly: "no", appendfsync: "everysec", "maxmemory-policy": "allkeys-lru" };
const PASSWORD = "on-premises";

/** The settings that the manifest gives to the server. The folder is the pod's own. */
function manifestSettings(): Record<string, string> {
  const text = readFileSync(path.join(ROOT, "deploy/on-premises/redis.yaml"), "utf8");
  const [set] = parseAllDocuments(text).map((document) => document.toJS());
  const { args } = set.spec.template.spec.containers[0] as { args: string[] };
  const settings: Record<string, string> = {};
  for (let at = 0; at < args.length; at += 2) settings[args[at]?.slice(2) ?? ""] = args[at + 1] ?? "";
  const { dir, requirepass, ...others } = settings;
  expect([dir, requirepass]).toEqual(["/data", "$(PASSWORD)"]);
  return others;
}

it("keeps what Redis has acknowledged with the settings of the manifest, through kill -9 (S1-74)", async ({
  skip,
}) => {
  const server = await startRedis({ settings: { ...CARELESS, ...manifestSettings() }, password: PASSWORD });
  if (!server) {
    missing("Redis", "it is not installed");
    return skip();
  }
  try {
    const store = await openRedisStore({ url: server.url });
    expect(store.capabilities.durability).toBe("power-loss");
    const row = await accepted(store, await accepted(store, creation()).then(step));
    await store.close();
    await server.stop("SIGKILL");
    await server.start();
    const again = await openRedisStore({ url: server.url });
    expect(await again.read(row.id)).toEqual(row);
    await again.close();
  } finally {
    await server.remove();
  }
});
