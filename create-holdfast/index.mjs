#!/usr/bin/env node
// `npm create holdfast [dir]` is `holdfast init [dir]`, without an installation before it.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const manifest = require.resolve("holdfast/package.json");
const { bin } = require(manifest);

process.argv.splice(2, 0, "init");
await import(pathToFileURL(path.join(path.dirname(manifest), bin.holdfast)).href);
