import { closeSync, constants, openSync } from "node:fs";
import { connect, createServer } from "node:net";
import path from "node:path";

/**
 * A socket in a folder that closes when its process ends, for whatever reason, and that every container on the machine
 * can connect to.
 */
export interface LifeLine {
  close(): Promise<void>;
}

/** The length limit of a socket's name on the strictest system. */
const MOST_CHARACTERS = 100;

/** Listens under a name in the folder. Returns `null` where sockets aren't available, such as on some file systems. */
export async function listenIn(folder: string, name: string): Promise<LifeLine | null> {
  if (process.platform === "win32") return null;
  return reachable(folder, name, async (place) => {
    const server = createServer((socket) => socket.destroy()).unref();
    const isListening = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(place, () => resolve(true));
    });
    // The socket must neither keep the process alive nor end it.
    server.on("error", () => undefined);
    if (!isListening) return null;
    return { close: () => new Promise<void>((resolve) => void server.close(() => resolve())) };
  });
}

/**
 * True when a process listens there: the kernel accepts the connection even if the process is busy. `null` when that
 * can't be determined.
 */
export async function answersIn(folder: string, name: string): Promise<boolean | null> {
  if (process.platform === "win32") return null;
  return reachable(folder, name, (place) => {
    const socket = connect(place);
    return new Promise<boolean | null>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", ({ code }: NodeJS.ErrnoException) =>
        resolve(code === "ECONNREFUSED" || code === "ENOENT" ? false : null),
      );
    }).finally(() => socket.destroy());
  });
}

/** Socket names are limited in length. On Linux, a folder with a long path can be reached through a descriptor. */
async function reachable<T>(
  folder: string,
  name: string,
  work: (place: string) => Promise<T>,
): Promise<T | null> {
  const place = path.join(folder, name);
  if (Buffer.byteLength(place) <= MOST_CHARACTERS) return work(place);
  if (process.platform !== "linux") return null;
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await work(`/proc/self/fd/${handle}/${name}`);
  } finally {
    closeSync(handle);
  }
}
