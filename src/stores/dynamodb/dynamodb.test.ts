import * as sdk from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { type DynamoServer, sharedDynamo } from "../../../test/support/services/dynamodb.ts";
import type { Entry, Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import {
  accepted,
  anEntry,
  creation,
  everythingOf,
  HOUR,
  idsOf,
  outsideAct,
  refused,
  step,
  take,
} from "../../testing/conformance/index.ts";
import { type DynamoOptions, openDynamoStore } from "./index.ts";

// DynamoDB Local takes about ten milliseconds for a call that takes the service one or two.
vi.setConfig({ testTimeout: 120_000 });

const { server } = await sharedDynamo();
const real = new sdk.DynamoDBClient({ ...server });
afterAll(() => real.destroy());

let count = 0;
const newTable = (): string => `store-${process.pid}-${++count}`;
const opened: Store[] = [];
const tables = new Set<string>();
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const TableName of tables)
    await real.send(new sdk.DeleteTableCommand({ TableName })).catch(() => undefined);
  tables.clear();
});

async function open(options: DynamoOptions = {}): Promise<Store & { readonly table: string }> {
  const table = options.table ?? newTable();
  tables.add(table);
  const place = options.client ? {} : (server as DynamoServer);
  const store = await openDynamoStore({ ...place, ...options, table });
  opened.push(store);
  return Object.assign(store, { table });
}

type Sent = { readonly name: string; readonly input: Record<string, unknown> };
type Send = (command: object, options?: object) => Promise<unknown>;

/** A client whose calls go through the given function. */
function meddling(meddle: (sent: Sent, go: () => Promise<unknown>) => Promise<unknown>) {
  const send = (real.send as Send).bind(real);
  return {
    send: (command: object, options?: object) => {
      const { input } = command as { input: Record<string, unknown> };
      const name = command.constructor.name.replace(/Command$/, "");
      return meddle({ name, input }, () => send(command, options));
    },
  };
}

const broken = () => Object.assign(new Error("the line is dead"), { name: "TimeoutError" });
const serviceError = (name: string, more: object = {}) => Object.assign(new Error(name), { name, ...more });

/** The sort keys of everything stored for a run. */
async function sortKeys(table: string, id = "run-1"): Promise<string[]> {
  const found: string[] = [];
  for (let from: sdk.QueryCommandOutput["LastEvaluatedKey"]; ; ) {
    const { Items = [], LastEvaluatedKey } = await real.send(
      new sdk.QueryCommand({
        TableName: table,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: `run#${id}` } },
        ConsistentRead: true,
        ...(from ? { ExclusiveStartKey: from } : {}),
      }),
    );
    found.push(...Items.map((item) => item["sk"]?.S ?? ""));
    from = LastEvaluatedKey;
    if (!from) return found;
  }
}

const manyEntries = (n: number, parts: Partial<Entry> = {}): Entry[] =>
  Array.from({ length: n }, (_, i) => anEntry(i + 1, parts));

/** True for the transaction that creates a run whose entries aren't written yet. */
const isCommit = ({ name, input }: Sent): boolean =>
  name === "TransactWriteItems" && JSON.stringify(input).includes('"redo":{"S"');

/** True for a transaction that finishes an operation committed earlier. */
const isHelp = ({ name, input }: Sent): boolean =>
  name === "TransactWriteItems" && JSON.stringify(input).includes('"ConditionCheck"');

describe.skipIf(!server)("values that are too large for one item or one transaction", () => {
  const LONG = "0123456789 🦊é\n".repeat(100_000);

  it("are kept to the letter, and leave nothing behind when they are dropped", async () => {
    const store = await open();
    const blobs = [{ hash: "long", data: LONG }];
    const entry = { head: `"${LONG.slice(0, 1_000_000)}"`, data: LONG };
    const row = await accepted(store, creation({ entry, blobs }));
    expect(await store.entries("run-1", { from: 1, limit: 1 })).toEqual([{ seq: 1, count: 1, ...entry }]);
    expect((await store.blobs("run-1", ["long"])).get("long")).toBe(LONG);
    await accepted(store, outsideAct(row, { drop: { entries: [1], blobs: ["long"] } }));
    expect((await store.entries("run-1", { from: 1, limit: 1 }))[0]).toEqual({
      seq: 1,
      count: 1,
      head: entry.head,
      data: null,
    });
    const left = (await sortKeys(store.table)).filter((sk) => !sk.includes("#head#"));
    expect(left).toEqual(["entry#0000000000000001", "entry#0000000000000002", "row"]);
  });

  it("leave nothing behind when they are refused", async () => {
    const store = await open();
    const row = await accepted(store, creation());
    const before = await sortKeys(store.table);
    await refused(store, step(row, { expect: { seq: 9 }, entry: { data: LONG } }), "conflict");
    expect(await sortKeys(store.table)).toEqual(before);
  });

  it("are refused with a plain error where they cannot be split", async () => {
    const store = await open();
    const append = creation({ run: { error: "x".repeat(400_000) } });
    await expect(store.append([append])).rejects.toMatchObject({ code: "HF-2002" });
    expect(await store.read("run-1")).toBeNull();
  });
});

function dyingAfterCommit() {
  let isDead = false;
  return meddling(async (sent, go) => {
    if (isDead) throw broken();
    const answer = await go();
    isDead = isCommit(sent);
    return answer;
  });
}

describe.skipIf(!server)("a run that is created with a thousand entries", () => {
  const entries = manyEntries(1000);
  const blobs = Array.from({ length: 50 }, (_, i) => ({ hash: `h${i}`, data: `blob ${i}` }));
  const large = () => creation({ entries, blobs, run: { parent: { runId: "boss", step: "fork" } } });

  it("is there as a whole, with nothing staged left", async () => {
    const store = await open();
    const row = await accepted(store, large());
    expect(row.seq).toBe(1000);
    expect((await sortKeys(store.table)).some((sk) => sk.startsWith("staged#"))).toBe(false);
    expect(await store.entries("run-1", { from: 1, limit: 2000 })).toEqual(entries);
    expect((await store.blobs("run-1", ["h0", "h49"])).size).toBe(2);
    expect(await idsOf(store, { parent: "boss", limit: 10 })).toEqual(["run-1"]);
    await refused(store, large(), "exists");
  });

  it("is finished by the next one to look when its writer dies after the commit", async () => {
    const { table } = await open();
    const dying = await open({ table, client: dyingAfterCommit() });
    expect(await dying.append([large()])).toEqual([{ ok: true }]);
    const keys = await sortKeys(table);
    expect(keys.filter((sk) => sk.startsWith("entry#"))).toEqual([]);
    const reader = await open({ table });
    const [journal, found] = await Promise.all([
      reader.entries("run-1", { from: 1, limit: 2000 }),
      reader.blobs("run-1", ["h7"]),
    ]);
    expect([journal, found.get("h7")]).toEqual([entries, "blob 7"]);
    const row = (await reader.read("run-1")) as RunRow;
    await accepted(reader, step(row));
    expect((await sortKeys(table)).filter((sk) => sk.startsWith("staged#"))).toEqual([]);
  });

  it("is finished by the next append as well", async () => {
    const { table } = await open();
    const dying = await open({ table, client: dyingAfterCommit() });
    await dying.append([large()]);
    const other = await open({ table });
    const row = (await other.read("run-1")) as RunRow;
    await accepted(other, step(row));
    expect((await other.entries("run-1", { from: 999, limit: 9 })).map(({ seq }) => seq)).toEqual([
      999, 1000, 1001,
    ]);
  });

  it("is not there at all when its writer dies before the commit, and does not show through later", async () => {
    const { table } = await open();
    const client = meddling((sent, go) => (isCommit(sent) ? Promise.reject(broken()) : go()));
    const dying = await open({ table, client });
    await expect(dying.append([large()])).rejects.toMatchObject({ code: "HF-3002" });
    const other = await open({ table });
    expect(await everythingOf(other, "run-1")).toEqual({ row: null, entries: [] });
    expect(await other.blobs("run-1", ["h0"])).toEqual(new Map());
    const row = await accepted(other, creation({ entry: { count: 3 } }));
    expect((await other.entries("run-1", { from: 1, limit: 10 })).map(({ seq }) => seq)).toEqual([1]);
    await accepted(other, outsideAct(row, { drop: { entries: [1], blobs: [] } }));
    expect((await sortKeys(table)).filter((sk) => sk.startsWith("staged#"))).toEqual([]);
  });

  it("is not brought back by a helper that comes late", async () => {
    const { table } = await open();
    const [gate, reached] = [deferred(), deferred()];
    let isHeld = false;
    const client = meddling(async (sent, go) => {
      if (isHelp(sent) && !isHeld) {
        isHeld = true;
        reached.resolve();
        await gate.promise;
      }
      return go();
    });
    const slow = await open({ table, client });
    const appended = slow.append([large()]);
    await reached.promise;
    const other = await open({ table });
    await other.entries("run-1", { from: 1, limit: 1 });
    const row = (await other.read("run-1")) as RunRow;
    const all = { entries: entries.map(({ seq }) => seq), blobs: blobs.map(({ hash }) => hash) };
    await accepted(other, outsideAct(row, { drop: all }));
    gate.resolve();
    expect(await appended).toEqual([{ ok: true }]);
    const left = await other.entries("run-1", { from: 1, limit: 1000 });
    expect(left.every(({ data }) => data === null)).toBe(true);
    expect(await other.blobs("run-1", all.blobs)).toEqual(new Map());
  });
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe.skipIf(!server)("two clients on one run", () => {
  it("give each position to one of them, and the journal has no gap (S1-24)", async () => {
    const one = await open();
    const two = await open({ table: one.table });
    await accepted(one, creation({ claim: { kind: "release" } }));
    const work = async (store: Store, name: string): Promise<number> => {
      let won = 0;
      for (let i = 0; i < 25; i++) {
        const row = (await store.read("run-1")) as RunRow;
        const [result] = await store.append([outsideAct(row, { entry: { data: `"${name} ${i}"` } })]);
        if (result?.ok) won++;
        else expect(result).toMatchObject({ reason: "conflict" });
      }
      return won;
    };
    const [a, b] = await Promise.all([work(one, "one"), work(two, "two")]);
    const { row, entries } = await everythingOf(one, "run-1");
    expect(row?.seq).toBe(1 + a + b);
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 1 + a + b }, (_, i) => i + 1));
    expect(entries.filter(({ data }) => data?.startsWith('"one')).length).toBe(a);
  });

  it("let one of them take it", async () => {
    const one = await open();
    const two = await open({ table: one.table });
    const row = await accepted(one, creation({ claim: { kind: "release" } }));
    const results = await Promise.all([
      one.append([outsideAct(row, { claim: take("ada") })]),
      two.append([outsideAct(row, { claim: take("bob") })]),
    ]);
    expect(results.flat().filter(({ ok }) => ok).length).toBe(1);
  });
});

describe.skipIf(!server)("a call that the service did not take", () => {
  it("is repeated with the same content and the same token", async () => {
    const { table } = await open();
    const inputs: string[] = [];
    const client = meddling((sent, go) => {
      if (sent.name !== "TransactWriteItems") return go();
      inputs.push(JSON.stringify(sent.input));
      const reasons = [{ Code: "TransactionConflict" }, { Code: "None" }];
      const met = { CancellationReasons: reasons };
      if (inputs.length === 1) throw serviceError("TransactionCanceledException", met);
      if (inputs.length === 2) throw serviceError("TransactionInProgressException");
      if (inputs.length === 3) throw serviceError("ProvisionedThroughputExceededException");
      return go();
    });
    const store = await open({ table, client });
    await accepted(store, creation());
    expect([inputs.length, new Set(inputs).size]).toEqual([4, 1]);
  });

  it("is an unreachable store when it lasts", async () => {
    const { table } = await open();
    const client = meddling((sent, go) => {
      if (sent.name === "UpdateItem") throw serviceError("ThrottlingException");
      return go();
    });
    const store = await open({ table, client });
    await accepted(store, creation());
    const renewal = { runId: "run-1", epoch: 1, token: "ada-token", ttlMs: HOUR };
    await expect(store.renew([renewal])).rejects.toMatchObject({ code: "HF-3002" });
  });

  it("is looked up when its answer is lost", async () => {
    const { table } = await open();
    let isLosing = false;
    const client = meddling(async (sent, go) => {
      const answer = await go();
      if (isLosing && sent.name === "TransactWriteItems") throw broken();
      return answer;
    });
    const store = await open({ table, client });
    const append = step(await accepted(store, creation()), { entry: { head: '{"op":"mine"}' } });
    isLosing = true;
    await expect(store.append([append])).rejects.toMatchObject({ code: "HF-3002" });
    expect(await store.entries("run-1", { from: 2, limit: 1 })).toEqual(append.entries);
    isLosing = false;
    await refused(store, append, "conflict");
  });
});

describe.skipIf(!server)("an index that is behind", () => {
  /** Repeats the first answer to every query of an index. */
  const stale = () => {
    const said = new Map<string, Promise<unknown>>();
    return meddling((sent, go) => {
      if (sent.name !== "Query" || !("IndexName" in sent.input)) return go();
      const question = JSON.stringify(sent.input).replace(/"8?[0-9a-f]{16}#~"|"N":"\d+"/g, "now");
      const answer = said.get(question) ?? go();
      said.set(question, answer);
      return answer;
    });
  };

  it("never widens a list, and shows every run as it stands", async () => {
    const store = await open({ client: stale() });
    const row = await accepted(store, creation());
    const running = { status: ["running"], limit: 10 } as const;
    expect(await idsOf(store, running)).toEqual(["run-1"]);
    expect(await idsOf(store, { limit: 10 })).toEqual(["run-1"]);
    const done = await accepted(store, step(row, { run: { status: "completed", wakeAt: null } }));
    expect(await idsOf(store, running)).toEqual([]);
    expect((await store.list({ limit: 10 })).runs).toEqual([done]);
  });

  it("never makes a run due that is taken", async () => {
    const store = await open({ client: stale() });
    const row = await accepted(store, creation({ claim: { kind: "release" } }));
    const due = () => store.due({ workflows: ["orders"], limit: 10 });
    expect(await due()).toEqual([row]);
    await accepted(store, outsideAct(row, { claim: take("ada") }));
    expect(await due()).toEqual([]);
  });

  it("does not keep a child from the list of its parent's children", async () => {
    const client = meddling((sent, go) =>
      "IndexName" in sent.input ? Promise.resolve({ Items: [] }) : go(),
    );
    const store = await open({ client });
    const parent = { runId: "boss", step: "delegate" };
    await accepted(store, creation({ run: { parent } }));
    expect(await idsOf(store, { limit: 10 })).toEqual([]);
    expect(await idsOf(store, { parent: "boss", status: ["running"], limit: 10 })).toEqual(["run-1"]);
  });
});

describe.skipIf(!server)("looking for due runs", () => {
  it("reads no row of a run that is held", async () => {
    const { table } = await open();
    let reads = 0;
    const client = meddling((sent, go) => {
      if (sent.name === "BatchGetItem") reads++;
      return go();
    });
    const store = await open({ table, client });
    await store.append(Array.from({ length: 20 }, (_, i) => creation({ run: { id: `run-${i}` } })));
    expect([await store.due({ workflows: ["orders"], limit: 10 }), reads]).toEqual([[], 0]);
    await accepted(store, creation({ run: { id: "free" }, claim: { kind: "release" } }));
    expect((await store.due({ workflows: ["orders"], limit: 10 })).map(({ id }) => id)).toEqual(["free"]);
  });
});

describe.skipIf(!server)("a claim that is held from outside", () => {
  it("is extended when there is one, and not made when there is none", async () => {
    const store = await open();
    const hold = { kind: "hold", ttlMs: 2 * HOUR } as const;
    const held = await accepted(store, creation());
    const after = await accepted(store, outsideAct(held, { claim: hold }));
    expect(after.claim.until).toBeGreaterThan(held.claim.until);
    const free = await accepted(store, creation({ run: { id: "free" }, claim: { kind: "release" } }));
    expect((await accepted(store, outsideAct(free, { claim: hold }))).claim).toEqual(free.claim);
  });
});
