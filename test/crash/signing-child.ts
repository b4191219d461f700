import type { Documents } from "../../src/core/store/documents.ts";
import { createEngine, workflow } from "../../src/index.ts";
import { auditKey, fileAnchor } from "../../src/security/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/** A process that signs the heads of a store, and the write of a document before or after which it is killed. */
export interface SigningConfig {
  readonly file: string;
  readonly key: string;
  readonly anchor: string;
  readonly run: string;
  readonly kill?: { readonly write: number; readonly when: "before" | "after" };
}

const { file, key, anchor, run, kill } = JSON.parse(process.argv[2] ?? "") as SigningConfig;
const pay = workflow("pay", async (ctx) => ctx.step("send", () => "sent"));
const store = await openSqliteStore({ file });
let writes = 0;

const die = (when: "before" | "after"): void => {
  if (kill?.write === writes && kill.when === when) process.kill(process.pid, "SIGKILL");
};
const struck = (documents: Documents): Documents => ({
  read: (...args) => documents.read(...args),
  list: (...args) => documents.list(...args),
  async write(batch) {
    writes++;
    die("before");
    const taken = await documents.write(batch);
    die("after");
    return taken;
  },
});
const watched = new Proxy(store, {
  get(target, name) {
    const found: unknown = Reflect.get(target, name, target);
    if (name === "documents") return struck(found as Documents);
    return typeof found === "function" ? (found.bind(target) as unknown) : found;
  },
});

const audit = { key: auditKey(key), anchors: [fileAnchor(anchor)], everyMs: 3_600_000 };
const engine = createEngine({ store: watched, workflows: [pay], audit });
await engine.result((await engine.start(pay, undefined, { id: run })).id);
await engine.queues.set("mail", { concurrency: 1 }, { actor: "ada" });
await engine.audit.anchor();
await engine.queues.pause("mail", { actor: "ada" });
await engine.audit.anchor();
await engine.close();
await store.close();
process.stdout.write(String(writes));
