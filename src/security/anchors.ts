import { open, readFile } from "node:fs/promises";
import type * as S3 from "@aws-sdk/client-s3";
import type { AuditAnchor } from "../core/audit/anchors.ts";
import { parseHeads } from "../core/audit/proof/checkpoint.ts";
import { badOption, checkKeys, checkMethod, checkNumber, checkText } from "../core/check-options.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import { checkUrl, type GuardOptions, guardedPost } from "../notify/request.ts";
import { signed } from "../notify/signature.ts";

/**
 * An anchor in a file that only grows: on another disk, or with `chattr +a`, so that whoever writes to the store can't
 * change it. The notes stand in it one after the other, each followed by an empty line.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { envAuditKey, fileAnchor } from "holdfast/security";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * export const open = async () =>
 *   createEngine({
 *     store: await openSqliteStore({ file: "runs.db" }),
 *     audit: { key: envAuditKey(), anchors: [fileAnchor("/mnt/worm/holdfast.heads")] },
 *   });
 * ```
 */
export function fileAnchor(file: string): AuditAnchor {
  checkText("file", file, 1);
  const read = (): Promise<string> =>
    readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
  return {
    name: `file ${file}`.slice(0, 200),
    async send({ note }) {
      const text = await read();
      if (text.includes(note)) return;
      // A note that a killed process has left unfinished is ended first.
      const gap = text === "" || text.endsWith("\n\n") ? "" : "\n\n";
      const handle = await open(file, "a", 0o644);
      try {
        await handle.appendFile(`${gap}${note}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    async newest() {
      const { heads } = parseHeads(await read());
      return heads.at(-1)?.text ?? null;
    },
  };
}

/** Where signed heads are sent, and how the requests are signed. */
export interface WebhookAnchorOptions extends Pick<GuardOptions, "allowHosts" | "timeoutMs" | "resolve"> {
  /** An `https:` address, or `http:` on this machine. */
  readonly url: string;
  /** Signs what is sent, as alerts are signed (Standard Webhooks): `verifyWebhook` of `holdfast/notify` checks it. */
  readonly secret: string;
}

/**
 * An anchor at another host, which gets each head as a signed note in a POST request. It is sent as notifications are:
 * to public addresses unless `allowHosts` names others, and without following redirects. `webhook-id` is the same for a
 * head that is sent again.
 */
export function webhookAnchor(options: WebhookAnchorOptions): AuditAnchor {
  checkKeys(options, ["url", "secret", "timeoutMs", "allowHosts", "resolve"]);
  const { url, secret, timeoutMs = 10_000, allowHosts = [] } = options;
  const target = addressOf(url);
  checkText("secret", secret, 8);
  checkNumber("timeoutMs", timeoutMs);
  // Whoever names this machine means it.
  const own = LOCAL.includes(target.hostname) ? [target.hostname.replace(/^\[|\]$/g, "")] : [];
  const guard = { ...defined({ resolve: options.resolve }), timeoutMs, allowHosts: [...allowHosts, ...own] };
  checkUrl(target, guard);
  return {
    name: `webhook ${target.host}${target.pathname}`.slice(0, 200),
    async send({ note, origin, size }) {
      const id = `${origin}/${size}`;
      const headers = {
        "content-type": "text/plain; charset=utf-8",
        "user-agent": "holdfast",
        "idempotency-key": id,
        "holdfast-log": origin,
        "holdfast-size": String(size),
        ...signed(secret, id, Date.now(), note),
      };
      await guardedPost(target.href, headers, note, guard);
    },
  };
}

const LOCAL: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

function addressOf(url: unknown): URL {
  const text = checkText("url", url, 1);
  if (URL.canParse(text)) return new URL(text);
  throw badOption("url", "it must be an https: address, or an http: address on this machine");
}

/** The part of `S3Client` (`@aws-sdk/client-s3` version 3) that the anchor uses. */
export interface S3ClientLike {
  send(command: object, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>;
}

/** The bucket that keeps signed heads, and for how long nobody may change them. */
export interface S3AnchorOptions {
  /** A bucket with Object Lock. */
  readonly bucket: string;
  /** The beginning of the objects' names. Default `holdfast/`. */
  readonly prefix?: string;
  /** How many days nobody can delete a head, not even the account's owner. Default 2,555 (seven years). */
  readonly retainDays?: number;
  /** Your own client. Default: one with credentials from the environment. */
  readonly client?: S3ClientLike;
  readonly region?: string;
  readonly endpoint?: string;
  readonly timeoutMs?: number;
}

const DAY_MS = 86_400_000;

/** An anchor in Amazon S3 or a service like it: each head is an object that can't be overwritten or deleted (Object Lock). */
export async function s3Anchor(options: S3AnchorOptions): Promise<AuditAnchor> {
  checkKeys(options, ["bucket", "prefix", "retainDays", "client", "region", "endpoint", "timeoutMs"]);
  const { bucket, prefix = "holdfast/", retainDays = 2_555, timeoutMs = 10_000 } = options;
  checkText("bucket", bucket, 1);
  checkText("prefix", prefix);
  checkNumber("retainDays", retainDays);
  checkNumber("timeoutMs", timeoutMs);
  if (options.client !== undefined) checkMethod("client", Object(options.client) as S3ClientLike, "send");
  const sdk = await load();
  const client = options.client ?? connect(sdk, options);
  return {
    name: `s3 ${bucket}/${prefix}`.slice(0, 200),
    async send({ note, origin, size }) {
      const Key = `${prefix}${origin}/${String(size).padStart(15, "0")}`;
      const put = new sdk.PutObjectCommand({
        Bucket: bucket,
        Key,
        Body: note,
        ContentType: "text/plain; charset=utf-8",
        IfNoneMatch: "*",
        ObjectLockMode: "COMPLIANCE",
        ObjectLockRetainUntilDate: new Date(Date.now() + retainDays * DAY_MS),
        ChecksumAlgorithm: "SHA256",
      });
      try {
        await client.send(put, { abortSignal: AbortSignal.timeout(timeoutMs) });
      } catch (error) {
        if ((error as Error).name !== "PreconditionFailed") throw error;
        const found = (await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key }), {
          abortSignal: AbortSignal.timeout(timeoutMs),
        })) as S3.GetObjectCommandOutput;
        // The same head, sent before by a process that was killed; anything else is another log under this name.
        if ((await found.Body?.transformToString()) !== note)
          throw new Error(`there is another head of size ${size} already`, { cause: error });
      }
    },
  };
}

const connect = (sdk: typeof S3, { region, endpoint }: S3AnchorOptions): S3ClientLike =>
  new sdk.S3Client({
    ...defined({ region, endpoint }),
    maxAttempts: 2,
    ...(endpoint === undefined ? {} : { forcePathStyle: true }),
  }) as S3ClientLike;

async function load(): Promise<typeof S3> {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    throw new HoldfastError("HF-3211", { package: "@aws-sdk/client-s3" }, { cause: error });
  }
}
