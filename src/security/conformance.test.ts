import path from "node:path";
import { describe, it } from "vitest";
import { useFolders } from "../../test/support/folders.ts";
import { sealedBefore, testKeyring } from "../../test/support/sealed.ts";
import type { Store } from "../core/store/contract.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { openSqliteStore } from "../stores/sqlite/index.ts";
import { storeConformance } from "../testing/conformance/index.ts";
import { packStore } from "./packed-store.ts";
import { sealStore } from "./sealed-store.ts";

const clock = {
  time: 1_800_000_000_000,
  now: () => clock.time,
  advance: (ms: number) => {
    clock.time += ms;
  },
};
const skip = [{ behaviour: "reopening", reason: "it forgets everything when it is closed" }];
const keyring = testKeyring("k1");
// The heads of these runs are artificial and have no marks.
const seal = async (inner: Store) =>
  sealStore(await sealedBefore(inner, keyring), { keyring, compression: { from: 0 } });

storeConformance(
  { name: "sealed memory", open: () => seal(createMemoryStore({ clock })), clock, skip },
  { describe, it },
);

storeConformance(
  {
    name: "packed memory",
    open: async () => packStore(createMemoryStore({ clock }), { from: 0 }),
    clock,
    skip,
  },
  { describe, it },
);

const newFolder = useFolders("sealed-conformance");
let file = "";
const openFile = async () => seal(await openSqliteStore({ file, clock }));
const open = () => {
  file = path.join(newFolder(), "runs.db");
  return openFile();
};
storeConformance({ name: "sealed sqlite", open, reopen: openFile, clock }, { describe, it });
