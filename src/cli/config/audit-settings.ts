import { resolve } from "node:path";
import type { AuditAnchor } from "../../core/audit/anchors.ts";
import type { AuditOptions } from "../../core/audit/options.ts";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Host } from "../host.ts";
import type { AuditBlock } from "./audit-block.ts";
import { readDuration } from "./engine-settings.ts";
import type { Settings } from "./settings.ts";

const VARIABLE = "HOLDFAST_AUDIT_KEY";

/** The configuration's audit block, and the key in the environment, as the engine takes them; `undefined`: neither. */
export async function auditSettings(
  { values: { audit }, root }: Settings,
  env: Host["env"],
): Promise<AuditOptions | undefined> {
  const text = env[VARIABLE];
  if (!audit && !text) return undefined;
  const { key_file, every, events, anchors = [] } = audit ?? {};
  const security = await import("../../security/audit-key.ts");
  const inEnv = text ? security.auditKey(text) : undefined;
  const key = key_file === undefined ? inEnv : security.fileAuditKey(resolve(root, key_file));
  const made: AuditAnchor[] = [];
  for (const anchor of anchors) made.push(await anchorOf(anchor, root, env));
  const everyMs = every === undefined ? undefined : readDuration(every);
  return { ...defined({ key, everyMs, events }), anchors: made };
}

type Given = NonNullable<AuditBlock["anchors"]>[number];

async function anchorOf(given: Given, root: string, env: Host["env"]): Promise<AuditAnchor> {
  const { fileAnchor, webhookAnchor, s3Anchor } = await import("../../security/anchors.ts");
  if ("file" in given) return fileAnchor(resolve(root, given.file));
  if ("webhook" in given) {
    const secret = env[given.secret_env];
    const allowHosts = given.allow_hosts;
    if (secret) return webhookAnchor({ url: given.webhook, secret, ...defined({ allowHosts }) });
    const problem = `${given.secret_env}, which holds its secret, isn't set`;
    throw new HoldfastError("HF-3207", { anchor: given.webhook, problem });
  }
  const { s3: bucket, prefix, region, endpoint, retain_days: retainDays } = given;
  return s3Anchor({ bucket, ...defined({ prefix, region, endpoint, retainDays }) });
}
