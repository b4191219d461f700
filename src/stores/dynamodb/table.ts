import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { GlobalSecondaryIndex, TableDescription } from "@aws-sdk/client-dynamodb";
import { badOption } from "../../core/check-options.ts";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { StoreIdentity } from "../../core/store/contract.ts";
import { newKey, restoration } from "../restoration.ts";
import { isNamed } from "./errors.ts";
import { META, toItem } from "./keys.ts";
import { readItem } from "./reading.ts";
import type { Item, Service } from "./service.ts";

/** Raised together with the journal's format, and when due runs got priorities that older versions don't know. */
export const SCHEMA = 3;

/** How long to wait for a new table, and how often to ask for it. */
const PATIENCE_MS = 180_000;
const LOOK_MS = 1_000;

/** Only rows have the attributes of an index, so an index holds nothing else. */
const index = (
  name: string,
  partition: string,
  order: string,
  include: string[] = [],
): GlobalSecondaryIndex => ({
  IndexName: name,
  KeySchema: [
    { AttributeName: partition, KeyType: "HASH" },
    { AttributeName: order, KeyType: "RANGE" },
  ],
  Projection:
    include.length === 0
      ? { ProjectionType: "KEYS_ONLY" }
      : { ProjectionType: "INCLUDE", NonKeyAttributes: include },
});

const INDEXES: readonly GlobalSecondaryIndex[] = [
  index("runs-by-age", "shard", "age"),
  index("runs-by-workflow", "workflowShard", "age"),
  index("runs-by-status", "statusShard", "age", ["workflowShard"]),
  index("runs-due", "workflowShard", "wake", ["busy"]),
];

const KEYS = ["pk", "sk", "shard", "workflowShard", "statusShard", "age", "wake"];

/** Creates the table if allowed, and returns the store's identity. Safe when many processes start at once. */
export async function prepare(service: Service, name: string, create: boolean): Promise<StoreIdentity> {
  let table = await described(service);
  if (!table || table.TableStatus === "CREATING") {
    if (!create && !table) throw notReady(name);
    if (!table) await createTable(service);
    table = await whenActive(service);
  }
  let meta = await readItem(service, META);
  if (!meta) {
    if (!isOurs(table)) throw foreign(name, "It is a table of another shape.");
    if (!create) throw notReady(name);
    await putMeta(service, idOf(table));
    meta = await readItem(service, META);
  }
  const identity = identityOf(meta ?? {}, table, name);
  if (Number(meta?.["schema"]?.N) < SCHEMA) await raiseSchema(service);
  return identity;
}

/** Makes older versions refuse the store from now on. */
async function raiseSchema(service: Service): Promise<void> {
  try {
    await service.update({
      Key: toItem(META),
      UpdateExpression: "SET #schema = :schema",
      ConditionExpression: "#schema < :schema",
      ExpressionAttributeNames: { "#schema": "schema" },
      ExpressionAttributeValues: { ":schema": { N: String(SCHEMA) } },
    });
  } catch (error) {
    // Another process was faster.
    if (!isNamed(error, "ConditionalCheckFailedException")) throw error;
  }
}

/** The table's incarnation, read now. It disappears with the table. */
export async function incarnationIn(service: Service): Promise<string> {
  return (await readItem(service, META))?.["incarnation"]?.S ?? "";
}

function identityOf(meta: Item, table: TableDescription, name: string): StoreIdentity {
  const found = Number(meta["schema"]?.N);
  const [incarnation, secret] = [meta["incarnation"]?.S, meta["secret"]?.S];
  if (meta["application"]?.S !== "holdfast" || !(found > 0) || !incarnation || !secret)
    throw foreign(name, "It holds items of another program.");
  if (found > SCHEMA) throw new HoldfastError("HF-3005", { file: name, found, known: SCHEMA });
  if (!isOurs(table)) throw foreign(name, "Its keys or indexes are not as they were made.");
  const own = createHash("sha256").update(`${incarnation} ${idOf(table)}`);
  const restoredAt = restoredTime(meta, table);
  return {
    incarnation: own.digest("base64url"),
    secret,
    ...defined({ restoredAt }),
  };
}

const idOf = ({ TableId, TableArn }: TableDescription): string => TableId ?? TableArn ?? "";

/**
 * A backup is always restored into a new table with the items of the old one, so a restore is detected automatically.
 */
function restoredTime(meta: Item, table: TableDescription): number | undefined {
  const told = meta["restored"]?.N === undefined ? undefined : Number(meta["restored"].N);
  const [made, created] = [meta["table"]?.S, table.CreationDateTime?.getTime() ?? 0];
  if (made === undefined || made === idOf(table)) return told;
  return Math.max(told ?? 0, created);
}

/** Gives the store a new incarnation. */
export async function markRestored(
  service: Service,
  times: { readonly now: number; readonly newestRun: number },
): Promise<void> {
  const { incarnation, restoredAt } = restoration(times.now, times.newestRun);
  await service.update({
    Key: toItem(META),
    UpdateExpression: "SET #incarnation = :incarnation, #restored = :restored",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeNames: { "#incarnation": "incarnation", "#restored": "restored" },
    ExpressionAttributeValues: { ":incarnation": { S: incarnation }, ":restored": { N: String(restoredAt) } },
  });
}

async function described(service: Service): Promise<TableDescription | undefined> {
  try {
    return await service.describe();
  } catch (error) {
    if (isNamed(error, "ResourceNotFoundException")) return undefined;
    throw error;
  }
}

async function createTable(service: Service): Promise<void> {
  try {
    await service.create({
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      AttributeDefinitions: KEYS.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
      GlobalSecondaryIndexes: [...INDEXES],
    });
  } catch (error) {
    // Another process was faster.
    if (!isNamed(error, "ResourceInUseException")) throw error;
  }
}

async function whenActive(service: Service): Promise<TableDescription> {
  const start = performance.now();
  for (;;) {
    const table = await described(service);
    if (table?.TableStatus === "ACTIVE") return table;
    if (performance.now() - start > PATIENCE_MS) throw new Error("The table is still being made.");
    await delay(LOOK_MS);
  }
}

/** Keeps the first one written. */
async function putMeta(service: Service, table: string): Promise<void> {
  const Item: Item = {
    ...toItem(META),
    application: { S: "holdfast" },
    schema: { N: String(SCHEMA) },
    incarnation: { S: newKey() },
    secret: { S: newKey() },
    table: { S: table },
  };
  try {
    await service.put({ Item, ConditionExpression: "attribute_not_exists(pk)" });
  } catch (error) {
    if (!isNamed(error, "ConditionalCheckFailedException")) throw error;
  }
}

function isOurs({ KeySchema = [], GlobalSecondaryIndexes = [] }: TableDescription): boolean {
  const isKeyed = KeySchema.map(({ AttributeName }) => AttributeName).join() === "pk,sk";
  const names = GlobalSecondaryIndexes.map(({ IndexName }) => IndexName);
  return isKeyed && INDEXES.every(({ IndexName }) => names.includes(IndexName));
}

const foreign = (file: string, message: string) => new HoldfastError("HF-3006", { file, message });

function notReady(name: string): HoldfastError {
  const problem = `${name} is not there, and may not be made; open it once with create: true as a role that may`;
  return badOption("create", problem);
}
