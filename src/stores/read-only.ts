import { accessSync, constants, existsSync } from "node:fs";
import path from "node:path";

/** What a place is that cannot be written because of how its file system is mounted; `undefined` where that is not so. */
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
