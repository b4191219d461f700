import { accessSync, constants, existsSync } from "node:fs";
import path from "node:path";

/** An error that describes a place on a read-only mount; `undefined` when the mount is writable. */
export function readOnlyError(place: string): Error | undefined {
  let there = path.resolve(place);
  while (!existsSync(there) && path.dirname(there) !== there) there = path.dirname(there);
  try {
    accessSync(there, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EROFS") return Object.assign(new Error("Its file system is mounted read-only."), { code });
  }
  return undefined;
}
