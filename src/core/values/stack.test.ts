import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.ts";
import { decode, encode } from "./codec.ts";
import { addSite, callSite, placeOf, shortStack, userStack } from "./stack.ts";

const withStack = (stack: string, cause?: Error): Error =>
  Object.assign(new Error("x", { cause }), { stack });
const engine = `    at runStep (${new URL("../run/steps.ts", import.meta.url).href}:10:1)`;

describe("the place of an error", () => {
  it.each([
    ["    at work (file:///p/flow.ts:12:5)", { file: "/p/flow.ts", line: 12, column: 5 }],
    ["    at async file:///p/a%20b/flow.ts?tsx-namespace=1:12:5", { file: "/p/a b/flow.ts", line: 12 }],
    ["    at work (C:\\p\\flow.ts:3:4)", { file: "C:/p/flow.ts", line: 3 }],
    ["    at work (file:///C:/p/flow.ts:3:4)", { file: "C:/p/flow.ts", line: 3 }],
    ["/p/flow.ts:7", { file: "/p/flow.ts", line: 7 }],
    [
      "    at body (data:text/javascript,(()%3D%3E%7B%7D)()?filePath=%2Fp%2Fflow.ts%3Fnamespace%3D1:2:9)",
      { file: "/p/flow.ts", line: undefined },
    ],
    ["    at node:internal/process:1:2\n    at x (/p/node_modules/pg/a.js:1:1)", undefined],
  ])("is read from %j", (frame, place) => {
    const found = placeOf(withStack(`Error: x\n${frame}`));
    if (place === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(place);
  });

  it("is that of the innermost cause, past frames of the engine and of packages", () => {
    const cause = withStack(
      `Error: y\n${engine}\n    at lib (/p/node_modules/a/b.js:1:1)\n    at f (/p/b.ts:2:2)`,
    );
    expect(placeOf(withStack("Error: x\n    at g (/p/a.ts:1:1)", cause))).toMatchObject({ file: "/p/b.ts" });
  });

  it("is part of an error of the library, and of one that was stored", () => {
    const error = new HoldfastError("HF-1008");
    expect(error.at).toMatch(/stack\.test\.ts:\d+:\d+$/);
    expect(placeOf(decode(encode(error)))).toEqual(placeOf(error));
  });

  it("is the calling line when the error has none, also for an error that can't be changed", () => {
    const error = withStack(`Error: x\n${engine}`);
    addSite(error, callSite());
    expect(placeOf(error)?.file).toMatch(/stack\.test\.ts$/);
    const frozen = Object.freeze(withStack("Error: x"));
    addSite(frozen, callSite());
    expect(placeOf(frozen)).toBeUndefined();
  });
});

describe("a stored stack", () => {
  const frames = Array.from({ length: 30 }, (_, i) => `    at f${i} (/p/a.ts:${i + 1}:1)`);

  it("keeps its frames although the message has many lines, and drops the engine's after the user's", () => {
    const message = Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n");
    const short = shortStack(`Error: ${message}\n${frames.slice(0, 2).join("\n")}\n${engine}`);
    expect(short).toContain("/p/a.ts:1:1");
    expect(short).not.toContain("runStep");
    expect(short.split("\n")).toHaveLength(12);
    expect(shortStack(short)).toBe(short);
  });

  it("keeps the engine's frames where they come first, and shows them only when there are no others", () => {
    const own = shortStack(`Error: x\n${engine}`);
    expect(own).toContain("runStep");
    expect(userStack(own)).toContain("runStep");
    expect(userStack(`Error: x\n${engine}\n${frames[0]}`)).toBe(`Error: x\n${frames[0]}`);
  });
});
