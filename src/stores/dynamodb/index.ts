import { badOption, checkNumber } from "../../core/check-options.ts";
import type { Store } from "../../core/store/contract.ts";
import { checkOptions } from "../options.ts";
import type { DynamoClient } from "./client.ts";
import { ServiceClock } from "./clock.ts";
import { connect, load } from "./driver.ts";
import { storeError } from "./errors.ts";
import { onClient } from "./service.ts";
import { DynamoStore } from "./store.ts";

export type { DynamoClient } from "./client.ts";

/** Keys of an AWS account, or temporary keys of a role. */
export interface DynamoCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * Options of the DynamoDB store: a client, or an address and credentials. Missing settings come from the environment.
 */
export interface DynamoOptions {
  /** A `DynamoDBClient` of `@aws-sdk/client-dynamodb`. Closing the store leaves it open. */
  readonly client?: DynamoClient;
  /** The address of the service, if not the usual one. */
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: DynamoCredentials;
  /** The table that holds everything. Default `holdfast`. */
  readonly table?: string;
  /**
   * Creates the table, billed per request, if it doesn't exist. Default true. With false, the role only needs to
   * describe the table and to read and write its items, and a missing table is refused.
   */
  readonly create?: boolean;
  /** How long one call may take, including repeats after broken connections. Default 15,000. */
  readonly timeoutMs?: number;
}

const OPTIONS = ["client", "endpoint", "region", "credentials", "table", "create", "timeoutMs"];
const NAME = /^[A-Za-z0-9_.-]{3,255}$/;

/**
 * Opens the DynamoDB store: runs in one table of one region, shared by any number of processes. Lists of runs may lag
 * by a moment; everything else is read as last written. Claims use the service's clock, which is known to within about
 * a second. Don't write to a replica of the table in another region.
 *
 * @example
 * ```ts
 * import { openDynamoStore } from "holdfast/stores/dynamodb";
 *
 * export const store = await openDynamoStore({ region: "eu-central-1", table: "holdfast" });
 * ```
 */
export async function openDynamoStore(options: DynamoOptions = {}): Promise<Store> {
  checkOptions("openDynamoStore", options, OPTIONS);
  const { table = "holdfast", create = true, timeoutMs = 15_000 } = options;
  if (!NAME.test(table))
    throw badOption("table", "it must be a name of 3 to 255 letters, digits, '_', '-' or '.'");
  checkNumber("timeoutMs", timeoutMs, { above: 0, most: Infinity });
  const clock = new ServiceClock();
  const setup = { table, timeoutMs, clock, ...(await clientOf(options, `DynamoDB table ${table}`)) };
  const store = new DynamoStore({ service: onClient(setup), clock, create });
  try {
    await store.identity();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function clientOf({ client, endpoint, region, credentials }: DynamoOptions, place: string) {
  const isAddressed = [endpoint, region, credentials].some((option) => option !== undefined);
  if (client && isAddressed)
    throw badOption("client", "it comes with its own endpoint, region and credentials");
  const sdk = await load();
  if (client) return { sdk, client, end: () => undefined };
  try {
    const own = connect(sdk, { endpoint, region, credentials });
    return { sdk, client: own, end: () => own.destroy() };
  } catch (error) {
    throw storeError(error, place, 0);
  }
}
