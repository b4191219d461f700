import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { takeUnhandled } from "../support/unhandled/setup.ts";

it.each([
  ["unhandledRejection", "void Promise.reject(new Error('left alone'))"],
  ["uncaughtException", "setImmediate(() => { throw new Error('left alone') })"],
])("an %s in any process of a crash test is noticed (E5)", (origin, code) => {
  spawnSync(process.execPath, ["-e", code]);
  expect(takeUnhandled()).toMatch(new RegExp(`^${origin} in .*left alone`, "s"));
});
