import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy between clients and a PostgreSQL server that cuts a connection exactly at a commit. */
export interface CuttingProxy {
  readonly port: number;
  /**
   * Cuts the next commit, and resolves when that has happened. `before`: the server has run the statement and never
   * receives the commit. `after`: it has committed and said so, and the client never receives that.
   */
  cut(side: "before" | "after"): Promise<void>;
  close(): Promise<void>;
}

interface Order {
  readonly side: "before" | "after";
  readonly done: () => void;
}

/** Splits a stream into protocol messages, which may arrive in pieces. */
class Messages {
  #bytes = Buffer.alloc(0);
  /** A connection begins with messages that have no type. */
  #isTyped: boolean;

  constructor(isTyped: boolean) {
    this.#isTyped = isTyped;
  }

  /** The complete messages so far: their type, "" for those without one, and all their bytes. */
  *take(chunk: Buffer): Generator<{ readonly type: string; readonly bytes: Buffer }> {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      const start = this.#isTyped ? 1 : 0;
      if (this.#bytes.length < start + 4) return;
      const length = start + this.#bytes.readInt32BE(start);
      if (this.#bytes.length < length) return;
      const bytes = this.#bytes.subarray(0, length);
      this.#bytes = this.#bytes.subarray(length);
      const type = start === 1 ? String.fromCharCode(bytes[0] ?? 0) : "";
      if (type === "" && bytes.readInt32BE(4) === PROTOCOL) this.#isTyped = true;
      yield { type, bytes };
    }
  }
}

const PROTOCOL = 3 << 16;

/** Detects where a client commits: with COMMIT, or with the Sync after a writing statement outside a transaction. */
class CommitWatch {
  readonly #writes: RegExp;
  #isWriting = false;
  #isInside = false;

  constructor(writes: RegExp) {
    this.#writes = writes;
  }

  isCommit(type: string, bytes: Buffer): boolean {
    if (type === "P") this.#isWriting = this.#writes.test(textIn(bytes.subarray(bytes.indexOf(0, 5) + 1)));
    if (type === "S") return this.#isWriting && !this.#isInside;
    if (type !== "Q") return false;
    const sql = textIn(bytes.subarray(5));
    if (/^BEGIN/i.test(sql)) this.#isInside = true;
    if (/^(COMMIT|ROLLBACK)/i.test(sql)) this.#isInside = false;
    return /^COMMIT/i.test(sql);
  }
}

const textIn = (bytes: Buffer): string => bytes.toString("utf8", 0, bytes.indexOf(0));

/** Starts a proxy in front of the server on `targetPort`; `writes` matches the statements whose commit may be cut. */
export async function startCuttingProxy(targetPort: number, writes: RegExp): Promise<CuttingProxy> {
  const orders: Order[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ port: targetPort, host: "127.0.0.1", noDelay: true });
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    forward(client, target, () => orders.shift(), new CommitWatch(writes));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    cut: (side) => new Promise((done) => orders.push({ side, done })),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function forward(client: Socket, target: Socket, next: () => Order | undefined, watch: CommitWatch): void {
  const asked = new Messages(false);
  /** The answers withheld from the client, until the server has finished. */
  let lost: { readonly answers: Messages; readonly done: () => void } | undefined;
  const cut = (done: () => void): void => {
    client.destroy();
    target.destroy();
    done();
  };
  client.on("data", (chunk: Buffer) => {
    for (const { type, bytes } of asked.take(chunk)) {
      const order = watch.isCommit(type, bytes) ? next() : undefined;
      if (order?.side === "before") return cut(order.done);
      if (order) lost = { answers: new Messages(true), done: order.done };
      target.write(bytes);
    }
  });
  target.on("data", (chunk: Buffer) => {
    if (!lost) return void client.write(chunk);
    for (const { type } of lost.answers.take(chunk)) if (type === "Z") return cut(lost.done);
  });
  client.on("close", () => target.destroy());
  target.on("close", () => client.destroy());
}
