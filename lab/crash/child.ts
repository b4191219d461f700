import { runChildFromArgs } from "./run-child.ts";

await runChildFromArgs();
