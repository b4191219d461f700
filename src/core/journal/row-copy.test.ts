import { describe, expect, it } from "vitest";
import { unwritten } from "./acts.ts";
import { newProjection } from "./project.ts";
import { copiedRow, projectionOf } from "./row-copy.ts";

const row = {
  ...unwritten({
    id: "run-1",
    workflow: "order",
    version: "1",
    schema: 2,
    lineage: "run-0",
    parent: { runId: "run-0", step: "child" },
    origin: { runId: "run-9", seq: 4 },
    createdAt: 5,
    labels: { team: "a" },
    queue: "mail",
    key: "customer-7",
    priority: 3,
  }),
  seq: 7,
  head: "hash",
};

describe("a copied row", () => {
  it("has every field of the row, whatever fields a run has", () => {
    expect(copiedRow(row)).toEqual(row);
    expect(Object.keys(copiedRow(row)).sort()).toEqual(Object.keys(row).sort());
    expect(copiedRow({ ...row, damage: "torn" })).toEqual({ ...row, damage: "torn" });
  });

  it("is another object", () => {
    const copy = copiedRow(row);
    copy.seq = 8;
    expect(row.seq).toBe(7);
  });
});

describe("the projected part of a row", () => {
  it("has what a projection has, and nothing else", () => {
    expect(projectionOf(row)).toEqual(newProjection(5, "1", 2));
    expect(Object.keys(projectionOf(row)).sort()).toEqual(Object.keys(newProjection(0, "1", 1)).sort());
  });
});
