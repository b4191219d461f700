import { writeFileSync } from "node:fs";
import { describe } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { goesOn, layOut, oldStores } from "../../test/support/old-stores.ts";
import { openFileStore } from "./file/index.ts";
import { openSqliteStore } from "./sqlite/index.ts";

const newPlace = useFolders("upgrades");

describe("a SQLite file", () => {
  for (const [commit, content] of oldStores("sqlite"))
    goesOn(commit, async () => {
      const file = newPlace();
      writeFileSync(file, content);
      return openSqliteStore({ file });
    });
});

describe("a folder of files", () => {
  for (const [commit, content] of oldStores("file.json"))
    goesOn(commit, async () => {
      const folder = newPlace();
      layOut(folder, content);
      return openFileStore({ folder });
    });
});
