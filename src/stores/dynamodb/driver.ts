import type * as Sdk from "@aws-sdk/client-dynamodb";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { DynamoClient } from "./client.ts";

const CONNECT_MS = 10_000;
/** Covers broken connections only; the store itself repeats every call that may be repeated. */
const MOST_ATTEMPTS = 3;

export interface Target {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly credentials?: Sdk.DynamoDBClientConfig["credentials"];
}

/** Creates our own client. Settings that aren't given come from the environment, as with every AWS tool. */
export function connect(
  sdk: typeof Sdk,
  { endpoint, region, credentials }: Target,
): DynamoClient & { destroy(): void } {
  return new sdk.DynamoDBClient({
    ...defined({ endpoint, region, credentials }),
    maxAttempts: MOST_ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_MS },
  }) as DynamoClient & { destroy(): void };
}

export async function load(): Promise<typeof Sdk> {
  try {
    return await import("@aws-sdk/client-dynamodb");
  } catch (error) {
    const detail = { package: "@aws-sdk/client-dynamodb", store: "DynamoDB" };
    throw new HoldfastError("HF-3015", detail, { cause: error });
  }
}
