import { setTimeout as delay } from "node:timers/promises";
import type * as Sdk from "@aws-sdk/client-dynamodb";
import { HoldfastError } from "../../core/errors.ts";
import type { DynamoClient } from "./client.ts";
import type { ServiceClock } from "./clock.ts";
import { isTransient } from "./errors.ts";

export type Value = Sdk.AttributeValue;
export type Item = Record<string, Value>;
export type Write = Sdk.TransactWriteItem;

/** The calls that the store makes, all to one table. */
export interface Service {
  readonly table: string;
  get(input: Omit<Sdk.GetItemInput, "TableName">): Promise<Sdk.GetItemOutput>;
  put(input: Omit<Sdk.PutItemInput, "TableName">): Promise<unknown>;
  update(input: Omit<Sdk.UpdateItemInput, "TableName">): Promise<Sdk.UpdateItemOutput>;
  remove(input: Omit<Sdk.DeleteItemInput, "TableName">): Promise<unknown>;
  query(input: Omit<Sdk.QueryInput, "TableName">): Promise<Sdk.QueryOutput>;
  batchGet(input: Sdk.KeysAndAttributes): Promise<Sdk.BatchGetItemOutput>;
  transact(input: Sdk.TransactWriteItemsInput): Promise<unknown>;
  describe(): Promise<Sdk.TableDescription | undefined>;
  create(input: Omit<Sdk.CreateTableInput, "TableName">): Promise<unknown>;
  /** Makes every later call fail. Calls in progress run to their end. */
  close(): void;
}

export interface ServiceSetup {
  readonly sdk: typeof Sdk;
  readonly client: DynamoClient;
  readonly table: string;
  readonly timeoutMs: number;
  readonly clock: ServiceClock;
  readonly end: () => void;
}

/** How often to repeat a call that was throttled or that conflicted with another on the same item. */
const MOST_TRIES = 10;
const LONGEST_REST_MS = 1_000;

export function onClient(setup: ServiceSetup): Service {
  const { sdk, table: TableName } = setup;
  let isClosed = false;
  const send = async <T>(make: () => object): Promise<T> => {
    for (let tries = 1; ; tries++) {
      if (isClosed) throw new HoldfastError("HF-3012");
      try {
        return (await once(setup, make())) as T;
      } catch (error) {
        if (!isTransient(error) || tries === MOST_TRIES) throw error;
      }
      await delay(Math.random() * Math.min(10 * 2 ** tries, LONGEST_REST_MS));
    }
  };
  return {
    table: TableName,
    get: (input) => send(() => new sdk.GetItemCommand({ TableName, ...input })),
    put: (input) => send(() => new sdk.PutItemCommand({ TableName, ...input })),
    update: (input) => send(() => new sdk.UpdateItemCommand({ TableName, ...input })),
    remove: (input) => send(() => new sdk.DeleteItemCommand({ TableName, ...input })),
    query: (input) => send(() => new sdk.QueryCommand({ TableName, ...input })),
    batchGet: (keys) => send(() => new sdk.BatchGetItemCommand({ RequestItems: { [TableName]: keys } })),
    transact: (input) => send(() => new sdk.TransactWriteItemsCommand(input)),
    describe: async () =>
      (await send<Sdk.DescribeTableOutput>(() => new sdk.DescribeTableCommand({ TableName }))).Table,
    create: (input) => send(() => new sdk.CreateTableCommand({ TableName, ...input })),
    close() {
      if (!isClosed) setup.end();
      isClosed = true;
    },
  };
}

/** The part of the SDK's middleware stack that is used here. */
interface Stack {
  add(
    middleware: (next: (args: object) => Promise<Answer>) => (args: object) => Promise<Answer>,
    options: { step: "deserialize" },
  ): void;
}

interface Answer {
  readonly response?: { readonly headers?: Readonly<Record<string, string>> };
}

function once({ client, clock, timeoutMs }: ServiceSetup, command: object): Promise<unknown> {
  const { middlewareStack } = command as { readonly middlewareStack: Stack };
  const timed =
    (next: (args: object) => Promise<Answer>) =>
    async (args: object): Promise<Answer> => {
      const sent = clock.local();
      const answer = await next(args);
      clock.answered(sent, answer.response?.headers?.["date"]);
      return answer;
    };
  middlewareStack.add(timed, { step: "deserialize" });
  return client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });
}
