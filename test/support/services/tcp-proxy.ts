import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy between a client and a server that cuts the connection on request. */
export interface TcpProxy {
  readonly port: number;
  /** The client's next request arrives; the answer is lost, and the connection with it. */
  loseNextAnswer(): void;
  close(): Promise<void>;
}

export async function startProxy(targetPort: number): Promise<TcpProxy> {
  let isLosing = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("data", (bytes) => target.write(bytes));
    target.on("data", (bytes) => {
      if (!isLosing) return client.write(bytes);
      isLosing = false;
      return client.destroy();
    });
    client.on("end", () => target.end());
    target.on("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    loseNextAnswer() {
      isLosing = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
