import { createHash } from "node:crypto";
import { HoldfastError } from "../../core/errors.ts";

/** A script, known to the server by its digest. */
export interface Script {
  readonly text: string;
  readonly digest: string;
}

export const script = (text: string): Script => ({
  text,
  digest: createHash("sha1").update(text).digest("hex"),
});

/** Every Redis command that the store uses. In a cluster, `key` selects the node. */
export interface Commands {
  readonly isCluster: boolean;
  send(key: string, args: readonly string[]): Promise<unknown>;
  run(program: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  close(): Promise<void>;
}

/** A connected client of the package `redis`, or an object of the same shape. */
export interface RedisClient {
  sendCommand(args: string[]): Promise<unknown>;
  on?(event: "error", listener: (error: Error) => void): unknown;
  off?(event: "error", listener: (error: Error) => void): unknown;
}

/** A connected cluster client of the package `redis`, or an object of the same shape. */
export interface RedisCluster {
  sendCommand(firstKey: string, isReadonly: boolean, args: string[]): Promise<unknown>;
  on?(event: "error", listener: (error: Error) => void): unknown;
  off?(event: "error", listener: (error: Error) => void): unknown;
}

export interface CommandOptions {
  /** How long one command may take before its outcome counts as unknown. */
  readonly timeoutMs: number;
  readonly end: () => Promise<void>;
}

type Target = { readonly client: RedisClient } | { readonly cluster: RedisCluster };

/** Adapts a client to commands. */
export function onClient(target: Target, { timeoutMs, end }: CommandOptions): Commands {
  const emitter = "client" in target ? target.client : target.cluster;
  // Without a listener, the failure of an idle connection would end the process.
  const ignore = (): void => undefined;
  emitter.on?.("error", ignore);
  const send = (key: string, args: readonly string[]): Promise<unknown> => {
    const sent =
      "client" in target
        ? target.client.sendCommand([...args])
        : target.cluster.sendCommand(key, false, [...args]);
    return within(sent, timeoutMs);
  };
  return {
    isCluster: "cluster" in target,
    send,
    run: (program, keys, args) =>
      runScript(send, program, [String(keys.length), ...keys, ...args.map(String)]),
    async close() {
      await end();
      emitter.off?.("error", ignore);
    },
  };
}

async function runScript(
  send: Commands["send"],
  { text, digest }: Script,
  rest: readonly string[],
): Promise<unknown> {
  const key = rest[1] ?? "";
  try {
    return await send(key, ["EVALSHA", digest, ...rest]);
  } catch (error) {
    // The only error after which the script certainly hasn't started and sending its text helps.
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return send(key, ["EVAL", text, ...rest]);
  }
}

/**
 * A command may still be executed after its time is up. A caller that checks the outcome uses the same connection,
 * after the command, so the answer is final unless the connection was lost in between.
 */
async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new HoldfastError("HF-3002", { message: "no answer", ms })), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Replies are texts, or bytes from a client configured that way. */
export const text = (reply: unknown): string | null =>
  reply === null || reply === undefined || reply === false ? null : String(reply as string | number | Buffer);

export const texts = (reply: unknown): readonly (string | null)[] =>
  Array.isArray(reply) ? reply.map(text) : [];
