import type * as Sdk from "@aws-sdk/client-kms";
import { checkKeys, checkMethod, checkNumber, checkText, keysOf } from "../core/check-options.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import { KEY_BYTES } from "./crypto.ts";
import type { Keyring } from "./keyring.ts";

/** The part of `KMSClient` (`@aws-sdk/client-kms` version 3) that the keyring uses. */
export interface KmsClient {
  send(command: object, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>;
}

/** Options of a keyring in AWS KMS. */
export interface KmsOptions {
  /** The key that wraps new keys: an id, an ARN or an alias. */
  readonly keyId: string;
  /** Earlier keys that now only unwrap. */
  readonly oldKeyIds?: readonly string[];
  /** Your own client. Default: one with credentials from the environment. */
  readonly client?: KmsClient;
  readonly region?: string;
  readonly endpoint?: string;
  /** How long to wait for an answer. Default 5 s. */
  readonly timeoutMs?: number;
}

const PACKAGE = "@aws-sdk/client-kms";
const ATTEMPTS = 2;
const OPTIONS = keysOf<KmsOptions>({
  keyId: true,
  oldKeyIds: true,
  client: true,
  region: true,
  endpoint: true,
  timeoutMs: true,
});

/** Errors that mean that this key didn't wrap the value. Every other error means that the key isn't available now. */
const NOT_OURS: readonly unknown[] = ["InvalidCiphertextException", "IncorrectKeyException"];

/**
 * Keys in AWS KMS, which wraps and unwraps the keys of runs and never releases its own. KMS's encryption context binds
 * each to its store and run, and appears in its audit trail.
 *
 * @example
 * ```ts
 * import { kmsKeyring, sealStore } from "holdfast/security";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * export async function openSealed() {
 *   const keyring = await kmsKeyring({ keyId: "alias/holdfast", region: "eu-central-1" });
 *   return sealStore(await openSqliteStore({ file: "runs.db" }), { keyring });
 * }
 * ```
 */
export async function kmsKeyring(options: KmsOptions): Promise<Keyring> {
  checkKeys(options, OPTIONS);
  const { keyId, oldKeyIds = [], timeoutMs = 5_000 } = options;
  checkText("keyId", keyId, 1);
  checkNumber("timeoutMs", timeoutMs);
  if (options.client !== undefined) checkMethod("client", Object(options.client) as KmsClient, "send");
  const sdk = await load();
  const client = options.client ?? connect(sdk, options);
  const ids = [...new Set([keyId, ...oldKeyIds])];
  const ask = async <T>(kek: string, command: object): Promise<T> => {
    try {
      return (await client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) })) as T;
    } catch (error) {
      throw away(kek, error);
    }
  };
  return {
    current: keyId,
    ids: () => ids,
    async wrap(id, secret, context) {
      const input = { KeyId: id, Plaintext: secret, EncryptionContext: { ...context } };
      const { CiphertextBlob } = await ask<Sdk.EncryptCommandOutput>(id, new sdk.EncryptCommand(input));
      if (!CiphertextBlob) throw away(id, new Error("the answer holds no key"));
      return CiphertextBlob;
    },
    async unwrap(id, wrapped, context) {
      const input = { KeyId: id, CiphertextBlob: wrapped, EncryptionContext: { ...context } };
      try {
        const { Plaintext } = await ask<Sdk.DecryptCommandOutput>(id, new sdk.DecryptCommand(input));
        return Plaintext?.length === KEY_BYTES ? Plaintext : null;
      } catch (error) {
        const cause = (error as Error).cause as Error | undefined;
        if (NOT_OURS.includes(cause?.name)) return null;
        throw error;
      }
    },
  };
}

function away(kek: string, cause: unknown): HoldfastError {
  const message = cause instanceof Error ? `${cause.name}: ${cause.message}` : "no reason was given";
  return new HoldfastError("HF-3030", { kek, message: message.slice(0, 300) }, { cause });
}

function connect(sdk: typeof Sdk, { region, endpoint, timeoutMs = 5_000 }: KmsOptions): KmsClient {
  return new sdk.KMSClient({
    ...defined({ region, endpoint }),
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: timeoutMs, requestTimeout: timeoutMs },
  }) as KmsClient;
}

async function load(): Promise<typeof Sdk> {
  try {
    return await import("@aws-sdk/client-kms");
  } catch (error) {
    throw new HoldfastError("HF-3035", { package: PACKAGE }, { cause: error });
  }
}
