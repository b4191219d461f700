import * as sdk from "@aws-sdk/client-dynamodb";
import { afterAll, describe } from "vitest";
import { goesOn, ofEveryVersion, oldStores } from "../../../test/support/old-stores.ts";
import { sharedDynamo } from "../../../test/support/services/dynamodb.ts";
import type { Store } from "../../core/store/contract.ts";
import { openDynamoStore } from "./index.ts";
import { META } from "./keys.ts";
import { SCHEMA } from "./table.ts";

const { server } = await sharedDynamo();
const admin = new sdk.DynamoDBClient({ ...server });
const tables: string[] = [];
afterAll(async () => {
  for (const TableName of tables) await admin.send(new sdk.DeleteTableCommand({ TableName }));
  admin.destroy();
});

type Item = Record<string, sdk.AttributeValue>;

const itemsOf = (content: Buffer): Item[] => JSON.parse(content.toString("utf8")) as Item[];
const isMeta = (item: Item): boolean => item["pk"]?.S === META.pk;

/** Puts the items into a new table, as the table that they were written to. */
async function restore(commit: string, content: Buffer): Promise<Store> {
  const table = `upgrades-${process.pid}-${commit}`;
  const open = () => openDynamoStore({ client: admin, table });
  await (await open()).close();
  tables.push(table);
  const { Table } = await admin.send(new sdk.DescribeTableCommand({ TableName: table }));
  const own = Table?.TableId ?? Table?.TableArn ?? "";
  for (const item of itemsOf(content)) {
    const Item = isMeta(item) ? { ...item, table: { S: own } } : item;
    await admin.send(new sdk.PutItemCommand({ TableName: table, Item }));
  }
  return open();
}

describe.skipIf(!server)("a DynamoDB table", () => {
  const stores = oldStores("dynamodb.json");
  ofEveryVersion(
    stores.map(([, content]) => itemsOf(content).find(isMeta)?.["schema"]?.N),
    SCHEMA,
  );
  for (const [commit, content] of stores) goesOn(commit, () => restore(commit, content));
});
