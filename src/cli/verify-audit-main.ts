import { main } from "./verify-audit.ts";

process.exitCode = await main(process.argv.slice(2));
