import { isLostStatement } from "./errors.ts";
import type { PostgresClient, PostgresPool, Value } from "./queryable.ts";
import type { NamedStatement } from "./statement.ts";
import { Texts } from "./texts.ts";

/** The connection of a `pg` client, as far as cursors of that driver use it. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Readonly<Record<string, string>>;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(portal: {
    readonly statement: string;
    readonly values: readonly unknown[];
    readonly valueMapper: (value: unknown) => string | Buffer | null;
  }): void;
  execute(portal: object): void;
  sync(): void;
}

/** A client that stays checked out. It doesn't keep the process alive while it has nothing to do. */
interface Held extends Omit<PostgresClient, "query"> {
  ref?(): void;
  unref?(): void;
  query(execution: Execution): unknown;
}

type Rows = readonly (readonly Value[])[];

/**
 * One execution of a statement that the connection has parsed before. The driver hands messages to whatever it is given
 * with `submit`. Columns aren't described, rows aren't made into objects, and nothing is emitted: with one run, all of
 * that takes as long as the rest of an append.
 */
class Execution {
  readonly name: string;
  readonly text: string;
  readonly query_timeout: number;
  callback: (error: Error | null) => void;
  readonly #values: readonly unknown[];
  readonly #rows: (readonly Value[])[] = [];

  constructor(
    { name, text, values }: NamedStatement,
    timeoutMs: number,
    done: (error: Error | null, rows: Rows) => void,
  ) {
    this.name = name;
    this.text = text;
    this.query_timeout = timeoutMs;
    this.#values = values;
    this.callback = (error) => done(error, this.#rows);
  }

  submit(wire: Wire): null {
    const { name, text } = this;
    // One write instead of four.
    wire.stream.cork();
    try {
      if (wire.parsedStatements[name] === undefined) wire.parse({ name, text });
      wire.bind({ statement: name, values: this.#values, valueMapper: asSent });
      wire.execute({});
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    return null;
  }

  handleDataRow({ fields }: { readonly fields: readonly Value[] }): void {
    this.#rows.push(fields);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}

function asSent(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  return value instanceof Texts ? value.toBinary() : String(value as number);
}

/** How long a connection without anything to do is kept from the pool. */
const REST_MS = 1_000;

/**
 * Executes kept statements on connections of our own pool. While one follows another they keep theirs: handing it back
 * and asking for it again takes four timers.
 */
export class HeldConnections {
  readonly #pool: PostgresPool;
  readonly #timeoutMs: number;
  readonly #idle: Held[] = [];
  readonly #onError = new Map<Held, () => void>();
  #timer: NodeJS.Timeout | undefined;
  #isUsed = false;
  #isClosed = false;

  constructor(pool: PostgresPool, timeoutMs: number) {
    this.#pool = pool;
    this.#timeoutMs = timeoutMs;
  }

  async execute(statement: NamedStatement): Promise<Rows> {
    this.#isUsed = true;
    const client = this.#again() ?? (await this.#another());
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, rows: Rows): void => {
        this.#done(client, error !== null);
        if (error) reject(error);
        else resolve(rows);
      };
      client.query(new Execution(statement, this.#timeoutMs, done));
    });
  }

  #again(): Held | undefined {
    const client = this.#idle.pop();
    client?.ref?.();
    return client;
  }

  async #another(): Promise<Held> {
    const client = (await this.#pool.connect()) as unknown as Held;
    const lost = () => {
      if (this.#idle.includes(client)) this.#release(client, true);
    };
    this.#onError.set(client, lost);
    client.on?.("error", lost);
    return client;
  }

  /** After a failure the connection isn't used again, as the pool itself does it. */
  #done(client: Held, isBroken: boolean): void {
    if (isBroken || this.#isClosed) return this.#release(client, isBroken);
    client.unref?.();
    this.#idle.push(client);
    this.#timer ??= setTimeout(() => this.#rest(), REST_MS).unref();
  }

  #rest(): void {
    this.#timer = undefined;
    if (!this.#isUsed) return this.#releaseAll();
    this.#isUsed = false;
    this.#timer = setTimeout(() => this.#rest(), REST_MS).unref();
  }

  #release(client: Held, isBroken: boolean): void {
    const at = this.#idle.indexOf(client);
    if (at >= 0) this.#idle.splice(at, 1);
    const lost = this.#onError.get(client);
    if (lost) client.off?.("error", lost);
    this.#onError.delete(client);
    client.release(isBroken);
  }

  #releaseAll(): void {
    for (const client of this.#idle.splice(0)) this.#release(client, false);
  }

  /** What is under way hands its connection back when it has ended. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#releaseAll();
  }
}

/** Whether the server keeps statements for us, once that is known. */
export interface Keeping {
  isDirect?: boolean;
}

/** Executes a kept statement; `null` where a statement doesn't stay or is another one. It hasn't been executed then. */
export async function unlessLost(keeping: Keeping, execute: () => Promise<Rows>): Promise<Rows | null> {
  try {
    return await execute();
  } catch (error) {
    if (!isLostStatement(error)) throw error;
    keeping.isDirect = false;
    return null;
  }
}
