import * as sdk from "@aws-sdk/client-dynamodb";
import { afterAll, describe, expect, it, vi } from "vitest";
import { restoredBackups, strangeStore } from "../../../test/support/restored.ts";
import { sharedDynamo } from "../../../test/support/services/dynamodb.ts";
import { openDynamoStore } from "./index.ts";

vi.setConfig({ testTimeout: 180_000 });

const { server } = await sharedDynamo();
const admin = new sdk.DynamoDBClient({ ...server });
afterAll(() => admin.destroy());

let count = 0;
const newTable = (): string => `restored-${process.pid}-${++count}`;
const open = (table: string) => openDynamoStore({ ...server, table });

async function itemsOf(TableName: string) {
  const items: Record<string, sdk.AttributeValue>[] = [];
  for (let ExclusiveStartKey: Record<string, sdk.AttributeValue> | undefined; ; ) {
    const page = await admin.send(new sdk.ScanCommand({ TableName, ExclusiveStartKey }));
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
    if (!ExclusiveStartKey) return items;
  }
}

/** Restores as the service does, which DynamoDB Local can't: into a new table, with the items of the old one. */
async function copyTo(table: string, items: Awaited<ReturnType<typeof itemsOf>>): Promise<void> {
  await (await open(table)).close();
  for (const Item of items) await admin.send(new sdk.PutItemCommand({ TableName: table, Item }));
}

function placeOf() {
  let table = newTable();
  return {
    online: true,
    open: () => open(table),
    async backUp() {
      const items = await itemsOf(table);
      return async () => {
        table = newTable();
        await copyTo(table, items);
      };
    },
  };
}

describe.skipIf(!server)("a table of DynamoDB", () => {
  restoredBackups("DynamoDB", placeOf);
  strangeStore("DynamoDB", () => {
    const table = newTable();
    const replace = async () => {
      await admin.send(new sdk.DeleteTableCommand({ TableName: table }));
      await (await open(table)).close();
    };
    return { open: () => open(table), replace };
  });

  it("that was restored under another name is known for it without being told", async () => {
    const { open: openIt, backUp } = placeOf();
    const store = await openIt();
    const before = await store.identity();
    expect(before.restoredAt).toBeUndefined();
    const putBack = await backUp();
    await store.close();
    await putBack();
    const again = await openIt();
    const after = await again.identity();
    expect(after).toMatchObject({ secret: before.secret, restoredAt: expect.any(Number) });
    expect(after.incarnation).not.toBe(before.incarnation);
    await again.close();
  });
});
