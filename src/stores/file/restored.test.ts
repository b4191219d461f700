import { cpSync, rmSync } from "node:fs";
import { useFolders } from "../../../test/support/folders.ts";
import { restoredBackups } from "../../../test/support/restored.ts";
import { openFileStore } from "./index.ts";

const newFolder = useFolders("file-restored");

restoredBackups("files", () => {
  const folder = newFolder();
  const copy = newFolder();
  return {
    online: false,
    open: () => openFileStore({ folder }),
    async backUp() {
      cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
      return async () => {
        rmSync(folder, { recursive: true });
        cpSync(copy, folder, { recursive: true, preserveTimestamps: true });
      };
    },
  };
});
