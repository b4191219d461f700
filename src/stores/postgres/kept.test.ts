import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HeldConnections } from "./kept.ts";
import { onPool } from "./pool.ts";
import type { PostgresPool } from "./queryable.ts";
import { Texts } from "./texts.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Sent = { readonly submit: (wire: object) => null; readonly handleDataRow: (row: object) => void } & {
  readonly handleReadyForQuery: () => void;
  readonly handleError: (error: Error) => void;
};

/** A pool whose clients note what they are told, and answer when they are asked to. */
function lab() {
  const told: string[] = [];
  const clients: EventEmitter[] = [];
  const sent: Sent[] = [];
  const connect = async () => {
    const at = clients.length;
    const note = (what: string) => void told.push(`${at} ${what}`);
    const parsedStatements: Record<string, string> = {};
    const wire = {
      stream: { cork: () => note("cork"), uncork: () => note("uncork") },
      parsedStatements,
      parse: ({ name, text }: { name: string; text: string }) => {
        note(`parse ${name}`);
        parsedStatements[name] = text;
      },
      bind: (portal: { values: unknown[]; valueMapper: (value: unknown) => unknown }) =>
        note(`bind ${JSON.stringify(portal.values.map(portal.valueMapper))}`),
      execute: () => note("execute"),
      sync: () => note("sync"),
    };
    const client = Object.assign(new EventEmitter(), {
      ref: () => note("ref"),
      unref: () => note("unref"),
      release: (isBroken: boolean) => note(`release ${isBroken}`),
      query: (execution: Sent) => {
        execution.submit(wire);
        sent.push(execution);
      },
    });
    clients.push(client);
    return client;
  };
  const held = new HeldConnections({ connect } as unknown as PostgresPool, 1_000);
  const execute = async (values: unknown[] = []) => {
    const rows = held.execute({ name: "one", text: "SELECT 1", values });
    rows.catch(() => undefined);
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    return { rows, execution: sent.splice(0)[0] as Sent };
  };
  const answered = async (values: unknown[] = []) => {
    const { rows, execution } = await execute(values);
    execution.handleDataRow({ fields: ["1"] });
    execution.handleReadyForQuery();
    return rows;
  };
  return { held, clients, execute, answered, take: () => told.splice(0) };
}

describe("statements that PostgreSQL keeps", () => {
  it("are parsed once for a connection and sent in one write, without asking what their columns are", async () => {
    const { answered, take } = lab();
    expect(await answered(["a", 2, null, undefined])).toEqual([["1"]]);
    const rest = ["0 execute", "0 sync", "0 uncork", "0 unref"];
    expect(take()).toEqual(["0 cork", "0 parse one", '0 bind ["a","2",null,null]', ...rest]);
    await answered();
    expect(take()).toEqual(["0 ref", "0 cork", "0 bind []", ...rest]);
  });

  it("send arrays of texts as bytes", async () => {
    const { answered, take } = lab();
    const texts = new Texts(["a", null]);
    await answered([texts]);
    expect(take()).toContain(`0 bind ${JSON.stringify([texts.toBinary()])}`);
  });

  it("have a connection each while they run side by side", async () => {
    const { execute, take } = lab();
    const [one, two] = [await execute(), await execute()];
    one.execution.handleReadyForQuery();
    two.execution.handleReadyForQuery();
    await Promise.all([one.rows, two.rows]);
    expect(take().filter((what) => what.includes("unref"))).toEqual(["0 unref", "1 unref"]);
  });

  it("hand their connection back when none has come for a while", async () => {
    const { answered, take } = lab();
    await answered();
    await vi.advanceTimersByTimeAsync(900);
    await answered();
    take();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(take()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(take()).toEqual(["0 release false"]);
    await answered();
    expect(take()).toContain("1 parse one");
  });

  it("never use a connection again after a failure", async () => {
    const { execute, answered, take } = lab();
    const { rows, execution } = await execute();
    const failure = Object.assign(new Error("cancelled"), { code: "57014" });
    execution.handleError(failure);
    await expect(rows).rejects.toBe(failure);
    expect(take()).toContain("0 release true");
    await answered();
    expect(take()).toContain("1 parse one");
  });

  it("drop a connection that ends while it has nothing to do", async () => {
    const { answered, clients, take } = lab();
    await answered();
    take();
    clients[0]?.emit("error", new Error("terminated"));
    expect(take()).toEqual(["0 release true"]);
    await answered();
    expect(take()).toContain("1 parse one");
  });

  it("leave nothing behind when they are closed, not even the connection of one under way", async () => {
    const { held, execute, answered, take } = lab();
    await answered();
    const two = [await execute(), await execute()];
    take();
    held.close();
    for (const { execution } of two) execution.handleReadyForQuery();
    expect(take()).toEqual(["0 release false", "1 release false"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a pool of our own", () => {
  it("is listened to after it was closed, because a connection that is still ending may fail", async () => {
    const pool = new EventEmitter();
    const database = onPool(pool as unknown as PostgresPool, {
      timeoutMs: 1_000,
      end: async () => undefined,
      isOwn: true,
    });
    await database.close();
    expect(pool.emit("error", new Error("terminated"))).toBe(true);
  });
});
