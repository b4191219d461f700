import { inspect } from "node:util";
import * as sdk from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { type DynamoServer, sharedDynamo } from "../../../test/support/services/dynamodb.ts";
import type { Store } from "../../core/store/contract.ts";
import { accepted, creation } from "../../testing/conformance/index.ts";
import { type DynamoOptions, openDynamoStore } from "./index.ts";

vi.setConfig({ testTimeout: 120_000 });

const { server } = await sharedDynamo();
const admin = new sdk.DynamoDBClient({ ...server });
afterAll(() => admin.destroy());

let count = 0;
const newTable = (): string => `opening-${process.pid}-${++count}`;
const opened: Store[] = [];
const tables = new Set<string>();
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const TableName of tables)
    await admin.send(new sdk.DeleteTableCommand({ TableName })).catch(() => undefined);
  tables.clear();
});

async function open(options: DynamoOptions = {}): Promise<Store> {
  const place = options.client ? {} : (server as DynamoServer);
  const table = options.table ?? newTable();
  tables.add(table);
  const store = await openDynamoStore({ ...place, ...options, table });
  opened.push(store);
  return store;
}

const META = { pk: { S: "meta" }, sk: { S: "meta" } };

describe.skipIf(!server)("opening a table", () => {
  it("makes it, paid per request, once for all who open it together", async () => {
    const table = newTable();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open({ table })));
    const identities = await Promise.all(stores.map((store) => store.identity()));
    expect(new Set(identities.map(({ incarnation, secret }) => incarnation + secret)).size).toBe(1);
    await accepted(await open({ table, create: false }), creation());
  });

  it("is refused when there is none and none may be made", async () => {
    const table = newTable();
    await expect(open({ table, create: false })).rejects.toMatchObject({ code: "HF-1003" });
    const { TableNames } = await admin.send(new sdk.ListTablesCommand({}));
    expect(TableNames).not.toContain(table);
  });

  it("is refused when it was written by a newer version, and raised when by an older one (R15)", async () => {
    const table = newTable();
    await open({ table });
    const numbered = async (number: string): Promise<void> => {
      const change = {
        UpdateExpression: "SET #s = :s",
        ExpressionAttributeNames: { "#s": "schema" },
        ExpressionAttributeValues: { ":s": { N: number } },
      };
      await admin.send(new sdk.UpdateItemCommand({ TableName: table, Key: META, ...change }));
    };
    await numbered("4");
    await expect(open({ table })).rejects.toMatchObject({ code: "HF-3005" });
    await numbered("1");
    await open({ table });
    const { Item } = await admin.send(new sdk.GetItemCommand({ TableName: table, Key: META }));
    expect(Item?.["schema"]?.N).toBe("3");
  });

  it("is refused when it belongs to another program, and is not touched", async () => {
    const table = newTable();
    tables.add(table);
    await admin.send(
      new sdk.CreateTableCommand({
        TableName: table,
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [
          { AttributeName: "pk", KeyType: "HASH" },
          { AttributeName: "sk", KeyType: "RANGE" },
        ],
        AttributeDefinitions: ["pk", "sk"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
      }),
    );
    await expect(open({ table })).rejects.toMatchObject({ code: "HF-3006" });
    expect((await admin.send(new sdk.ScanCommand({ TableName: table }))).Count).toBe(0);
  });

  it("gives another incarnation to the items of a table that lie in a new one", async () => {
    const [from, to] = [newTable(), newTable()];
    const [before, other] = [await (await open({ table: from })).identity(), await open({ table: to })];
    const { Item } = await admin.send(new sdk.GetItemCommand({ TableName: from, Key: META }));
    await admin.send(new sdk.PutItemCommand({ TableName: to, Item: Item ?? {} }));
    const after = await other.identity();
    expect([after.secret === before.secret, after.incarnation === before.incarnation]).toEqual([true, false]);
  });

  it("tells what failed without the request, which is signed", async () => {
    const table = newTable();
    const store = await open({
      table,
      credentials: { ...(server as DynamoServer).credentials, sessionToken: "token1" },
    });
    await admin.send(new sdk.DeleteTableCommand({ TableName: table }));
    const failure = await store.read("run-1").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "HF-3006", cause: { name: "ResourceNotFoundException" } });
    expect(inspect(failure, { depth: 20, showHidden: true })).not.toMatch(/token1|Signature/);
  });

  it("leaves a client that was given open, and tells the service's time", async () => {
    const store = await open({ client: admin });
    expect(Math.abs((await store.now()) - Date.now())).toBeLessThan(2_000);
    await store.close();
    await expect(store.read("run-1")).rejects.toMatchObject({ code: "HF-3012" });
    await admin.send(new sdk.ListTablesCommand({}));
  });
});

describe("opening a store that cannot be had", () => {
  const refusing = (name: string) => ({
    send: () => Promise.reject(Object.assign(new Error("no"), { name })),
  });

  it("says whether the credentials or the rights were not enough", async () => {
    for (const [name, code] of [
      ["UnrecognizedClientException", "HF-3016"],
      ["CredentialsProviderError", "HF-3016"],
      ["AccessDeniedException", "HF-3004"],
    ] as const)
      await expect(openDynamoStore({ client: refusing(name) })).rejects.toMatchObject({ code });
  });

  it("says that nobody answers", async () => {
    const credentials = { accessKeyId: "x", secretAccessKey: "y" };
    const options = { endpoint: "http://127.0.0.1:9", region: "local", credentials };
    await expect(openDynamoStore(options)).rejects.toMatchObject({ code: "HF-3002" });
  });

  it("refuses options that cannot be meant", async () => {
    const client = refusing("Error");
    for (const [options, option] of [
      [{ table: "no spaces" }, "table"],
      [{ timeoutMs: 0 }, "timeoutMs"],
      [{ tabel: "orders" } as DynamoOptions, "tabel"],
      [{ client, region: "eu-central-1" }, "client"],
    ] as const)
      await expect(openDynamoStore(options)).rejects.toMatchObject({ code: "HF-1003", detail: { option } });
  });
});
