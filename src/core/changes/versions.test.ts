import { describe, expect, it } from "vitest";
import { type Migration, type Workflow, workflow } from "../../index.ts";
import { RunState } from "../journal/state.ts";
import type { RunRow } from "../types.ts";
import { noRoute, route } from "./versions.ts";

const flow = (version: string, migrations: readonly Migration[], schema = 1): Workflow =>
  workflow("flow", { version, schema, migrations }, () => undefined) as Workflow;

const hops = (to: Workflow, version: string, schema = 1): string[] | undefined =>
  route(to, { version, schema })?.map((one) => `${one.from}-${one.to}`);

describe("the way from one version to another", () => {
  it("is empty for a run of the version at hand", () => {
    expect(hops(flow("2", []), "2")).toEqual([]);
  });

  it("goes through all versions in between", () => {
    const to = flow("2.0", [
      { from: "1.1", to: "2.0" },
      { from: "1.0", to: "1.1" },
    ]);
    expect(hops(to, "1.0")).toEqual(["1.0-1.1", "1.1-2.0"]);
    expect(hops(to, "1.1")).toEqual(["1.1-2.0"]);
  });

  it("is the shortest one there is, also where some lead in a circle", () => {
    const to = flow("4", [
      { from: "1", to: "2" },
      { from: "2", to: "1" },
      { from: "2", to: "3" },
      { from: "3", to: "4" },
      { from: "1", to: "3" },
      { from: "3", to: "2" },
    ]);
    expect(hops(to, "1")).toEqual(["1-3", "3-4"]);
    expect(hops(to, "2")).toEqual(["2-3", "3-4"]);
  });

  it("is the one that was declared first where several are as short", () => {
    const one: Migration[] = [
      { from: "1", to: "2" },
      { from: "2", to: "4" },
    ];
    const other: Migration[] = [
      { from: "1", to: "3" },
      { from: "3", to: "4" },
    ];
    expect(hops(flow("4", [...one, ...other]), "1")).toEqual(["1-2", "2-4"]);
    expect(hops(flow("4", [...other, ...one]), "1")).toEqual(["1-3", "3-4"]);
  });

  it("does not exist for a version nobody knows, a newer one, or another schema of the same version", () => {
    const to = flow("2", [{ from: "1", to: "2" }], 2);
    expect(hops(to, "0")).toBeUndefined();
    expect(hops(to, "3", 2)).toBeUndefined();
    expect(hops(to, "2", 1)).toBeUndefined();
    expect(hops(to, "1", 1)).toEqual(["1-2"]);
  });

  it("may lead back to an older version, where somebody declared that", () => {
    expect(hops(flow("1", [{ from: "2", to: "1" }]), "2")).toEqual(["2-1"]);
  });
});

describe("what a run says that no migration leads on", () => {
  const chain: Migration[] = [
    { from: "1", to: "2" },
    { from: "2", to: "3" },
    { from: "4", to: "5" },
  ];

  it.each<[string, Workflow, string, string]>([
    ["nothing is registered", flow("2", []), "1", "No migration leads there: none is registered."],
    [
      "there is a gap",
      flow("5", chain),
      "1",
      "No migration leads there: from 1 they lead to 2, 3 (registered: 1 → 2, 2 → 3, 4 → 5).",
    ],
    [
      "they end where it is",
      flow("4", chain),
      "3",
      "No migration leads there: none leads on from 3 (registered: 1 → 2, 2 → 3, 4 → 5).",
    ],
    [
      "it is of a version that none of them knows",
      flow("3", chain.slice(0, 2)),
      "7",
      "none leads on from 7 (registered: 1 → 2, 2 → 3). None of them knows that version: it may be of newer code.",
    ],
    [
      "only the schema is another",
      flow("1", [], 2),
      "1",
      "The version is the same, but the schema of its state is not. Its state is of schema 1, the code's of 2.",
    ],
  ])("tells how far they lead: %s", (_, to, from, text) => {
    const run = { id: "r", version: from, schema: 1 } as RunRow;
    const { code, message, why } = noRoute(run, new RunState(), to);
    expect([code, message]).toEqual([
      "HF-2114",
      `Run r belongs to version ${from} of flow; this process has ${to.version}.`,
    ]);
    expect(why).toContain(text);
    expect(why).toContain("It has recorded no steps.");
  });
});

describe("a workflow", () => {
  it.each<[string, unknown, string]>([
    ["no list", {}, "HF-1003"],
    ["a way to where it began", [{ from: "1", to: "1" }], "HF-1003"],
    ["a way from nowhere", [{ from: "", to: "1" }], "HF-1003"],
    ["a version that is no text", [{ from: 1, to: "2" }], "HF-1003"],
    [
      "one way twice",
      [
        { from: "1", to: "2" },
        { from: "1", to: "2" },
      ],
      "HF-1003",
    ],
    ["a rename that is no record", [{ from: "1", to: "2", rename: ["a"] }], "HF-1003"],
    ["a drop that is no list", [{ from: "1", to: "2", drop: "a" }], "HF-1003"],
    ["a state that is no function", [{ from: "1", to: "2", state: {} }], "HF-1003"],
    ["a place in a group", [{ from: "1", to: "2", rename: { "match[3]": "meet" } }], "HF-1005"],
    ["a count", [{ from: "1", to: "2", drop: ["pay#2"] }], "HF-1005"],
    ["an empty name", [{ from: "1", to: "2", rename: { "turn/": "x" } }], "HF-1005"],
    ["a new name that is a path", [{ from: "1", to: "2", rename: { pay: "a/b" } }], "HF-1005"],
    ["a name of the engine's", [{ from: "1", to: "2", add: ["compensate"] }], "HF-1005"],
    ["two steps under one name", [{ from: "1", to: "2", rename: { a: "c", b: "c" } }], "HF-1003"],
    ["a step both renamed and dropped", [{ from: "1", to: "2", rename: { a: "b" }, drop: ["a"] }], "HF-1003"],
  ])("refuses migrations with %s", (_, migrations, code) => {
    const define = () => workflow("flow", { migrations: migrations as Migration[] }, () => undefined);
    expect(define).toThrow(expect.objectContaining({ code }));
  });

  it("takes the same new name in two scopes", () => {
    expect(() => flow("2", [{ from: "1", to: "2", rename: { "a/x": "z", "b/x": "z" } }])).not.toThrow();
  });

  it.each([{ version: "" }, { version: 2 as never }, { schema: 0 }, { schema: 1.5 }])(
    "refuses %j as what its runs are stored with",
    (options) => {
      expect(() => workflow("flow", options, () => undefined)).toThrow(
        expect.objectContaining({ code: "HF-1003" }),
      );
    },
  );
});
