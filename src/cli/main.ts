#!/usr/bin/env node
import { runCli } from "./app.ts";
import { processHost } from "./process-host.ts";

// Stacks name the TypeScript that a compiled file was made from.
process.setSourceMapsEnabled?.(true);

const code = await runCli(process.argv.slice(2), processHost());
// An abandoned call may still be open, so the process doesn't end on its own; flush the output first.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
