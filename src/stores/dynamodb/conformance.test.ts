import * as sdk from "@aws-sdk/client-dynamodb";
import { afterAll, describe, it, vi } from "vitest";
import { sharedDynamo } from "../../../test/support/services/dynamodb.ts";
import type { Store } from "../../core/store/contract.ts";
import { storeConformance } from "../../testing/conformance/index.ts";
import { ServiceClock } from "./clock.ts";
import { onClient } from "./service.ts";
import { DynamoStore } from "./store.ts";

// DynamoDB Local takes about ten milliseconds for a call that takes the service one or two.
vi.setConfig({ testTimeout: 180_000 });

const { server } = await sharedDynamo();
const admin = new sdk.DynamoDBClient({ ...server });
afterAll(() => admin.destroy());

const clock = {
  time: 1_800_000_000_000,
  isFresh: true,
  now: () => clock.time,
  advance: (ms: number) => {
    clock.time += ms;
  },
};

/** Opens a store that uses this file's clock. */
async function openTimed(table: string): Promise<Store> {
  const client = new sdk.DynamoDBClient({ ...server });
  const end = () => client.destroy();
  const setup = { sdk, client, table, timeoutMs: 20_000, clock: new ServiceClock(), end };
  return new DynamoStore({ service: onClient(setup), clock, create: true });
}

/** Each case has its own table. */
let count = 0;
const table = (): string => `conformance-${process.pid}-${count}`;

const options = {
  name: "DynamoDB",
  clock,
  open: () => {
    count++;
    return openTimed(table());
  },
  reopen: () => openTimed(table()),
  destroy: async () => void (await admin.send(new sdk.DeleteTableCommand({ TableName: table() }))),
};

describe.skipIf(!server)("on DynamoDB Local", () => {
  storeConformance(options, { describe, it });
});
