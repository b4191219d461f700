import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { useFolders } from "../../../test/support/folders.ts";
import { regressedStore, restoredBackups, strangeStore } from "../../../test/support/restored.ts";
import { chooseDriver } from "./driver.ts";
import { openSqliteStore } from "./index.ts";

const newFolder = useFolders("sqlite-restored");

/** Copies the file with `VACUUM INTO`, regardless of writers. The returned function puts it back without side files. */
async function backUp(file: string): Promise<() => Promise<void>> {
  const copy = `${file}.backup`;
  rmSync(copy, { force: true });
  const db = (await chooseDriver("auto")).connect(file);
  db.exec(`VACUUM INTO '${copy}'`);
  db.close();
  return async () => {
    for (const side of ["", "-wal", "-shm"]) rmSync(`${file}${side}`, { force: true });
    copyFileSync(copy, file);
  };
}

const newFile = (): string => {
  const folder = newFolder();
  mkdirSync(folder);
  return path.join(folder, "runs.db");
};

restoredBackups("SQLite", () => {
  const file = newFile();
  return { online: true, open: () => openSqliteStore({ file }), backUp: () => backUp(file) };
});

regressedStore("SQLite", () => {
  const file = newFile();
  return { open: () => openSqliteStore({ file }), disturb: () => backUp(file) };
});

strangeStore("SQLite", () => {
  const file = newFile();
  const open = () => openSqliteStore({ file });
  // Restores a copy of itself: even the incarnation is the same.
  return { open, replace: async () => (await backUp(file))() };
});
