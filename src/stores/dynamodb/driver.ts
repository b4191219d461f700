import type * as Sdk from "@aws-sdk/client-dynamodb";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { DynamoClient } from "./client.ts";

const CONNECT_MS = 10_000;
/** The store repeats by itself what may be repeated; this is for connections that break. */
const MOST_ATTEMPTS = 3;

export interface Target {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly credentials?: Sdk.DynamoDBClientConfig["credentials"];
}

/** A client of our own; what is not given comes from the environment, as with every AWS tool. */
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
