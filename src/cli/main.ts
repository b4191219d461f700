#!/usr/bin/env node
import { runCli } from "./app.ts";
import { processHost } from "./process-host.ts";

const code = await runCli(process.argv.slice(2), processHost());
// A call that was given up may still be open, so the process does not end by itself; what was printed must be out first.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
