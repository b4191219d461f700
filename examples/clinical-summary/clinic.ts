import { createEngine } from "holdfast";
import { fileKeyring, sealStore } from "holdfast/security";
import { openSqliteStore } from "holdfast/stores/sqlite";
import { summary } from "./flow.ts";

const file = ".holdfast/holdfast.db";
// Every value is encrypted before it's stored, with a key for each run.
const store = await sealStore(await openSqliteStore({ file }), { keyring: fileKeyring("keys.json") });
const engine = createEngine({
  store,
  workflows: [summary],
  claimMs: 2_000,
  // A medical record number is for nobody, not even for those who have the key.
  redact: { patterns: [{ kind: "mrn", pattern: /\bMRN-\d{6}\b/ }] },
});
await engine.start(summary, 17, { id: "visit-17" });
console.log(await engine.result("visit-17"));
await engine.close();
await store.close();
