// Loaded into every process that crash tests start: records unhandled errors, whatever else happens to the process.
import { appendFileSync } from "node:fs";

const file = process.env["HOLDFAST_TEST_UNHANDLED"];
process.on("uncaughtExceptionMonitor", (error, origin) => {
  const what = error instanceof Error ? error.stack : String(error);
  if (file)
    appendFileSync(file, `${origin} in ${process.argv.slice(1, 3).join(" ").slice(0, 300)}: ${what}\n`);
});
