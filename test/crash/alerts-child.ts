import { createEngine, type Store, workflow } from "../../src/index.ts";
import { webhook } from "../../src/notify/index.ts";
import { openPostgresStore } from "../../src/stores/postgres/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/**
 * `watch <store> <port>`: looks for alerts and tells the witness at this port. `work <store>`: has a run whose step hangs.
 * The store is a PostgreSQL URL or a file.
 */
const [role = "", place = "", port = ""] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const store: Store = place.startsWith("postgres")
  ? await openPostgresStore({ connectionString: place })
  : await openSqliteStore({ file: place });

if (role === "work") {
  const hang = workflow("hang", async (ctx) => {
    await ctx.step("hang", () => {
      say("hanging");
      return new Promise<never>(() => undefined);
    });
  });
  const engine = createEngine({ store, workflows: [hang], claimMs: 1_000, sweepMs: 50 });
  await engine.start(hang, undefined, { id: "r" });
  await engine.work();
} else {
  const channel = webhook({
    url: `http://127.0.0.1:${port}/`,
    secret: "a secret of the tests",
    allowHosts: ["127.0.0.1"],
    timeoutMs: 60_000,
  });
  const alerts = { notify: [channel], everyMs: 100, awayAfterMs: 2_000 };
  const engine = createEngine({ store, execute: false, alerts });
  engine.alerts.watch({ background: false });
  say("watching");
}
