import { parseArgs } from "node:util";
import { startTemporal } from "../services/temporal.ts";
import { buildTemporal } from "../services/temporal-cache.ts";

/** `npm run temporal:server -- --db runs.db --port 7233`: a real server, built when it isn't there yet. */
const { values } = parseArgs({
  options: {
    db: { type: "string", default: "temporal.db" },
    port: { type: "string", default: "7233" },
    /** Only builds it. */
    build: { type: "boolean", default: false },
  },
});

const problem = await buildTemporal((text) => console.error(text));
if (problem !== undefined) {
  console.error(`!! Temporal's server cannot be had: ${problem}`);
  process.exit(1);
}
if (!values.build) {
  const server = await startTemporal({ database: values.db, port: Number(values.port) });
  console.log(`Temporal listens on ${server.address}, with its database in ${values.db}`);
  const keep = setInterval(() => undefined, 60_000);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      clearInterval(keep);
      void server.stop();
    });
}
