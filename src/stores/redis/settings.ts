import { HoldfastError } from "../../core/errors.ts";
import type { StoreCapabilities } from "../../core/store/contract.ts";
import { type Commands, text, texts } from "./commands.ts";
import { FROM_REPLICA } from "./errors.ts";
import { INFO } from "./scripts.ts";

/** The first version with script flags and with expiry that is frozen while a script runs. */
const OLDEST = 7;

type Durability = StoreCapabilities["durability"];

interface Checked {
  readonly durability: Durability;
  /** Why acknowledged writes may not survive a power loss, if so. */
  readonly doubt?: string;
}

const ORDER: readonly Durability[] = ["none", "process", "power-loss"];

/** Refuses servers that can't keep their data, and returns the durability of the weakest one. */
export async function checkServers(
  commands: Commands,
  keys: readonly string[],
  name: string,
): Promise<Checked> {
  const all = await Promise.all(keys.map((key) => checkServer(commands, key, name)));
  const [weakest] = all.sort((a, b) => ORDER.indexOf(a.durability) - ORDER.indexOf(b.durability));
  return weakest ?? { durability: "none" };
}

async function checkServer(commands: Commands, key: string, name: string): Promise<Checked> {
  const info = await commands.run(INFO, [key], []);
  const field = (wanted: string): string =>
    new RegExp(`^${wanted}:(.*?)\\r?$`, "m").exec(String(info))?.[1] ?? "";
  const config = await configOf(commands, key);
  const refuse = (message: string, fix: string) =>
    new HoldfastError("HF-3022", { place: name, message, fix });
  const version = field("redis_version");
  if (Number.parseInt(version, 10) < OLDEST)
    throw refuse(`it is Redis ${version}, 7.0 or later is needed.`, "Upgrade the server.");
  if (field("role") === "slave")
    throw refuse("the server is a replica, which takes no writes.", FROM_REPLICA);
  const policy = config.get("maxmemory-policy") ?? field("maxmemory_policy");
  if (policy !== "noeviction")
    throw refuse(
      `it forgets runs when memory is short (maxmemory-policy is ${policy}, noeviction is needed).`,
      "CONFIG SET maxmemory-policy noeviction, and the line maxmemory-policy noeviction in redis.conf.",
    );
  if (field("aof_enabled") !== "1")
    return { durability: "none", doubt: "the server keeps no append-only file (appendonly is off)" };
  const sync = config.get("appendfsync");
  if (sync === "always") return { durability: "power-loss" };
  const doubt = `the server does not sync before it answers (appendfsync is ${sync ?? "not known"})`;
  return { durability: "process", doubt };
}

/** Some services hide their settings. An unknown setting is never claimed as a guarantee. */
async function configOf(commands: Commands, key: string): Promise<ReadonlyMap<string, string>> {
  let reply: unknown;
  try {
    reply = await commands.send(key, ["CONFIG", "GET", "maxmemory-policy", "appendfsync"]);
  } catch (error) {
    if (/^(NOPERM|ERR unknown)/.test(String((error as Error).message))) return new Map();
    throw error;
  }
  // A map in version 3 of the protocol, a list of names and values in version 2.
  if (!Array.isArray(reply)) {
    const entries = reply instanceof Map ? [...reply] : Object.entries(reply ?? {});
    return new Map(entries.map(([one, value]) => [String(one), text(value) ?? ""]));
  }
  const parts = texts(reply);
  return new Map(parts.flatMap((one, i) => (i % 2 === 0 ? [[one ?? "", parts[i + 1] ?? ""] as const] : [])));
}
