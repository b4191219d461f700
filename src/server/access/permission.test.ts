import { describe, expect, it } from "vitest";
import { decide, inScope, PERMISSIONS, permissionsOf, ROLES, type Role } from "./permission.ts";

const as = (...roles: Role[]) => ({ actor: "ada", permissions: permissionsOf(roles) });
const pay = { workflow: "pay", labels: { team: "a", region: "eu" }, queue: "slow" };

describe("permissions", () => {
  it("give an auditor no right to change anything, and only an administrator all of them (A2)", () => {
    const changing = ["runs:act", "gates:answer", "flow:manage", "admin"] as const;
    for (const permission of changing) expect(as("auditor").permissions.has(permission)).toBe(false);
    const all = Object.entries(ROLES).filter(([, list]) => list.length === PERMISSIONS.length);
    expect(all.map(([role]) => role)).toEqual(["admin"]);
  });

  it("show raw state to auditors and administrators only (A3)", () => {
    const readers = Object.keys(ROLES).filter((role) => as(role as Role).permissions.has("state:read"));
    expect(readers).toEqual(["auditor", "admin"]);
  });

  it("are denied by default, and add up over several roles", () => {
    expect(decide(as("viewer"), "runs:act")).toBe("forbidden");
    expect(decide(as("viewer", "approver"), "gates:answer")).toBe("allowed");
    expect(decide({ actor: "x", permissions: new Set() }, "runs:read")).toBe("forbidden");
  });

  it("don't let a run outside the scope be known at all, whatever the role", () => {
    const admin = { ...as("admin"), scope: { workflows: ["mail"] } };
    for (const permission of PERMISSIONS) expect(decide(admin, permission, { run: pay })).toBe("unknown");
    const viewer = { ...as("viewer"), scope: { workflows: ["mail"] } };
    expect(decide(viewer, "runs:act", { run: pay }), "forbidden would say that it exists").toBe("unknown");
  });

  it("refuse what belongs to the whole store to somebody with a scope", () => {
    expect(decide(as("admin"), "admin", "store")).toBe("allowed");
    expect(decide({ ...as("admin"), scope: { workflows: ["pay"] } }, "admin", "store")).toBe("forbidden");
  });
});

describe("a scope", () => {
  it("lets a run through when everything it names matches", () => {
    expect(inScope(null, pay)).toBe(true);
    expect(inScope({}, pay)).toBe(true);
    expect(inScope({ workflows: ["pay", "mail"], labels: { team: "a" }, queues: ["slow"] }, pay)).toBe(true);
    expect(inScope({ workflows: ["mail"] }, pay)).toBe(false);
    expect(inScope({ labels: { team: "b" } }, pay)).toBe(false);
    expect(inScope({ queues: ["fast"] }, pay)).toBe(false);
    expect(inScope({ workflows: ["pay"], labels: { team: "b" } }, pay)).toBe(false);
  });

  it("of a label or a queue lets no run through that has none", () => {
    expect(inScope({ labels: { team: "a" } }, { workflow: "pay" })).toBe(false);
    expect(inScope({ queues: ["slow"] }, { workflow: "pay", queue: null })).toBe(false);
    expect(inScope({ labels: { constructor: "x" } }, { workflow: "pay", labels: {} })).toBe(false);
  });
});
