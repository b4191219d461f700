import { existsSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Disk, nodeDisk } from "../../src/stores/disk.ts";

/** The result of a sudden end: everything done, or only what was synced, or something between. */
export type Ending = "kill" | "power loss" | "half";
export const ENDINGS: readonly Ending[] = ["kill", "power loss", "half"];

/** A name that was created, moved or removed, and may be lost until its folder is synced. */
interface Change {
  file: string;
  undo(file: string): void;
}

/**
 * A disk that stops before its n-th change and stays stopped. It knows which names and contents haven't been synced,
 * and reverts them when the power fails.
 */
export class ShakyDisk implements Disk {
  changes = 0;
  readonly #stopAt: number;
  #unsynced: Change[] = [];
  readonly #dirty = new Set<string>();

  constructor(stopAt = Number.POSITIVE_INFINITY) {
    this.#stopAt = stopAt;
  }

  get hasStopped(): boolean {
    return this.changes >= this.#stopAt;
  }

  read = (file: string) => this.#look(() => nodeDisk.read(file));
  list = (folder: string) => this.#look(() => nodeDisk.list(folder));
  realpath = (folder: string) => this.#look(() => nodeDisk.realpath(folder));
  inode = (file: string) => this.#look(() => nodeDisk.inode(file));

  create = (file: string, text: string) =>
    this.#change(async () => {
      const written = await nodeDisk.create(file, text);
      this.#name(file, (at) => rmSync(at, { force: true }));
      this.#dirty.add(file);
      const sync = () =>
        this.#change(async () => {
          await written.sync();
          this.#dirty.delete(file);
        }, written.close);
      return { sync, close: written.close };
    });

  makeFolder = (folder: string) =>
    this.#change(async () => {
      await nodeDisk.makeFolder(folder);
      this.#name(folder, (at) => rmSync(at, { recursive: true, force: true }));
    });

  link = (file: string, name: string) =>
    this.#change(async () => {
      await nodeDisk.link(file, name);
      if (this.#dirty.has(file)) this.#dirty.add(name);
      this.#name(name, (at) => rmSync(at, { force: true }));
    });

  rename = (from: string, to: string) =>
    this.#change(async () => {
      const before = existsSync(to) && statSync(to).isFile() ? readFileSync(to) : undefined;
      await nodeDisk.rename(from, to);
      if (this.#dirty.delete(from)) this.#dirty.add(to);
      // Unsynced content of a folder stays unsynced when the folder is renamed.
      this.#move(from, to);
      this.#name(to, () => {
        renameSync(to, from);
        this.#move(to, from);
        if (before) writeFileSync(to, before);
      });
    });

  unlink = (file: string) =>
    this.#change(async () => {
      const before = existsSync(file) ? readFileSync(file) : undefined;
      await nodeDisk.unlink(file);
      this.#dirty.delete(file);
      this.#name(file, (at) => before && writeFileSync(at, before));
    });

  removeAll = (folder: string) => this.#change(() => nodeDisk.removeAll(folder));

  syncFolder = (folder: string) =>
    this.#change(async () => {
      await nodeDisk.syncFolder(folder);
      this.#unsynced = this.#unsynced.filter(({ file }) => path.dirname(file) !== folder);
    });

  /** Ends the process and, if the power failed, reverts everything unsynced. */
  end(ending: Ending): void {
    if (ending === "kill") return;
    const kept = ending === "half" ? Math.floor(this.#unsynced.length / 2) : 0;
    for (const change of this.#unsynced.slice(kept).reverse()) change.undo(change.file);
    for (const file of this.#dirty)
      if (existsSync(file)) truncateSync(file, Math.floor(statSync(file).size / 2));
  }

  #name(file: string, undo: (file: string) => unknown): void {
    this.#unsynced.push({ file, undo });
  }

  #move(from: string, to: string): void {
    for (const change of this.#unsynced)
      if (change.file.startsWith(`${from}/`)) change.file = `${to}${change.file.slice(from.length)}`;
  }

  async #look<T>(work: () => Promise<T>): Promise<T> {
    if (this.hasStopped) throw new Error("the disk has stopped");
    return work();
  }

  async #change<T>(work: () => Promise<T>, giveUp?: () => Promise<void>): Promise<T> {
    if (this.hasStopped || ++this.changes >= this.#stopAt) {
      await giveUp?.();
      throw new Error("the disk has stopped");
    }
    return work();
  }
}
