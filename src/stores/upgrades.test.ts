import { writeFileSync } from "node:fs";
import { describe } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { goesOn, layOut, ofEveryVersion, oldStores } from "../../test/support/old-stores.ts";
import { openFileStore } from "./file/index.ts";
import { STORE_FORMAT } from "./file/sealed.ts";
import { openSqliteStore } from "./sqlite/index.ts";
import { SCHEMA } from "./sqlite/migrations.ts";

const newPlace = useFolders("upgrades");
const files = oldStores("sqlite");
const folders = oldStores("file.json");

/** Where a SQLite file keeps its `user_version`. */
const VERSION_AT = 60;

describe("a SQLite file", () => {
  ofEveryVersion(
    files.map(([, content]) => content.readUInt32BE(VERSION_AT)),
    SCHEMA,
  );
  for (const [commit, content] of files)
    goesOn(commit, async () => {
      const file = newPlace();
      writeFileSync(file, content);
      return openSqliteStore({ file });
    });
});

describe("a folder of files", () => {
  ofEveryVersion(
    folders.map(([, content]) => /"version\\": \\"(\d+\.\d+)\\"/.exec(content.toString("utf8"))?.[1]),
    Number(STORE_FORMAT),
  );
  for (const [commit, content] of folders)
    goesOn(commit, async () => {
      const folder = newPlace();
      layOut(folder, content);
      return openFileStore({ folder });
    });
});
