import { chmodSync, existsSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HoldfastError } from "../../../core/errors.ts";
import { keysIn } from "../../../security/env-keyring.ts";
import { packageVersion } from "../../../testing/package-files.ts";
import type { Settings } from "../../config/settings.ts";
import type { Host } from "../../host.ts";
import { bytes } from "../../view/sizes.ts";
import { bad, type Check, ok, warn } from "./checks.ts";

/** From package.json; later versions are better. */
const OLDEST_NODE = [20, 19] as const;
const FULL = 0.9;
const VERY_FULL = 0.98;

export function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  const text = `node ${process.versions.node}, holdfast ${packageVersion()}`;
  return isOld
    ? bad("versions", text, { advice: `Use Node.js ${OLDEST_NODE.join(".")} or later.` })
    : ok("versions", text);
}

export async function checkSqlite(): Promise<Check> {
  const { chooseDriver } = await import("../../../stores/sqlite/driver.ts");
  try {
    const { name, version } = await chooseDriver("auto");
    return ok("sqlite", `SQLite ${version} (${name})`);
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return bad("sqlite", error.message, { advice: error.fix });
  }
}

export function checkDisk(place: string): Check {
  const folder = existingFolder(place);
  const { blocks, bavail, bsize } = statfsSync(folder);
  const share = blocks === 0 ? 0 : 1 - bavail / blocks;
  const text = `disk ${Math.round(share * 100)} % full, ${bytes(bavail * bsize)} free`;
  const fix = { command: "checkpoints prune --dry-run" };
  if (share >= VERY_FULL) return bad("disk", text, fix);
  return share >= FULL ? warn("disk", text, fix) : ok("disk", text);
}

function existingFolder(place: string): string {
  for (let at = place; ; at = dirname(at)) if (existsSync(at) && statSync(at).isDirectory()) return at;
}

/** Other users of the machine shouldn't read what runs know. */
export function checkRights(file: string): Check {
  const mode = statSync(file).mode & 0o777;
  if (process.platform === "win32" || (mode & 0o077) === 0)
    return ok("rights", "only you can read the store");
  return {
    ...warn("rights", `others can read the store (mode ${mode.toString(8)})`, { command: "doctor --fix" }),
    repair: { text: "made the store private (mode 600)", run: () => chmodSync(file, 0o600) },
  };
}

/** A store inside a repository shouldn't be committed. */
export function checkIgnored(file: string, root: string): Check | undefined {
  const folder = dirname(file);
  const ignore = join(folder, ".gitignore");
  if (!existsSync(join(root, ".git")) || folder === root || existsSync(ignore)) return undefined;
  return {
    ...warn("git", "the store's folder is in a repository and not ignored by it", {
      command: "doctor --fix",
    }),
    repair: { text: `wrote ${ignore}`, run: () => writeFileSync(ignore, "*\n") },
  };
}

/** Checks that keys are available if values are encrypted. Shows their ids, never the keys. */
export function checkKeys({ values, root }: Settings, { env }: Host): Check {
  const { encryption } = values;
  const given = env["HOLDFAST_KEYS"];
  if (!encryption)
    return given
      ? warn("encryption", "off, although HOLDFAST_KEYS is set: values are stored as they are", {
          advice: "Set encryption: true in holdfast.config, before the store has runs.",
        })
      : ok("encryption", "off: values are stored as they are");
  if (encryption === true) return checkEnvKeys(given);
  if ("keyring" in encryption) return ok("encryption", "on, with the keyring of the configuration");
  const { key_file: file } = encryption;
  return existsSync(resolve(root, file))
    ? ok("encryption", `key file present (${file})`)
    : bad("encryption", `on, and the key file ${file} is not there`, {
        advice: "Put it back: without it no value can be read.",
      });
}

function checkEnvKeys(given: string | undefined): Check {
  const fix = { advice: 'export HOLDFAST_KEYS="k1:$(openssl rand -base64 32)"' };
  if (!given) return bad("encryption", "on, and no key is there", fix);
  try {
    return ok("encryption", `key present (${[...keysIn("HOLDFAST_KEYS", given).keys()].join(", ")})`);
  } catch (error) {
    return bad(
      "encryption",
      `on, but ${HoldfastError.is(error) ? error.message : "the keys can't be read"}`,
      fix,
    );
  }
}
