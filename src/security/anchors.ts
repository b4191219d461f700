import { createHmac } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import type * as S3 from "@aws-sdk/client-s3";
import type { AuditAnchor } from "../core/audit/anchors.ts";
import { parseHeads } from "../core/audit/proof/checkpoint.ts";
import { badOption, checkKeys, checkMethod, checkNumber, checkText } from "../core/check-options.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";

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

/** Where signed heads are posted, and how they are signed. */
export interface WebhookAnchorOptions {
  /** An `https:` address, or `http:` on this machine. */
  readonly url: string;
  /** Signs what is sent: `holdfast-signature: t=<seconds>,v1=<HMAC-SHA-256 of "t.body" in hexadecimal>`. */
  readonly secret: string;
  /** How long to wait for an answer. Default 10 s. */
  readonly timeoutMs?: number;
}

/** An anchor at another host, which gets each head as a signed note in a POST request. */
export function webhookAnchor(options: WebhookAnchorOptions): AuditAnchor {
  checkKeys(options, ["url", "secret", "timeoutMs"]);
  const { url, secret, timeoutMs = 10_000 } = options;
  const target = addressOf(url);
  checkText("secret", secret, 8);
  checkNumber("timeoutMs", timeoutMs);
  return {
    name: `webhook ${target.host}${target.pathname}`.slice(0, 200),
    async send({ note, origin, size }) {
      const time = Math.floor(Date.now() / 1000);
      const mark = createHmac("sha256", secret).update(`${time}.${note}`).digest("hex");
      const response = await fetch(target, {
        method: "POST",
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          "content-type": "text/plain; charset=utf-8",
          "holdfast-signature": `t=${time},v1=${mark}`,
          "holdfast-log": origin,
          "holdfast-size": String(size),
        },
        body: note,
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`it answered ${response.status}`);
    },
  };
}

function addressOf(url: unknown): URL {
  const text = checkText("url", url, 1);
  const target = URL.canParse(text) ? new URL(text) : null;
  const isLocal = target !== null && ["localhost", "127.0.0.1", "[::1]"].includes(target.hostname);
  if (target && (target.protocol === "https:" || (target.protocol === "http:" && isLocal))) return target;
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
