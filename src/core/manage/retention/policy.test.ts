import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../errors.ts";
import { type RetentionPolicy, type RetentionPreset, readPolicy } from "./policy.ts";

const DAY = 86_400_000;
const rules = (policy: unknown, workflow = "w") => readPolicy(policy as RetentionPolicy).of(workflow);

function refused(policy: unknown): string {
  try {
    readPolicy(policy as RetentionPolicy);
  } catch (error) {
    expect(HoldfastError.is(error, "HF-1003")).toBe(true);
    return (error as Error).message;
  }
  throw new Error("the policy was taken");
}

describe("a retention policy", () => {
  it("may be the name of a preset", () => {
    const table: Record<RetentionPreset, object> = {
      default: { maxAge: 7 * DAY, failedMaxAge: 30 * DAY },
      seed0: { maxAge: 0, failedMaxAge: 30 * DAY, onExpiry: "delete", cacheTtl: 7 * DAY },
      dag: { keepLast: 5, maxAge: 7 * DAY, failedMaxAge: 30 * DAY },
      conductor: {
        keepLast: 10,
        keepPer: "workflow",
        maxAge: 7 * DAY,
        keepSuccessful: 1,
        failedMaxAge: 7 * DAY,
      },
      agentic: { keepPerPhase: 5, maxAge: 30 * DAY, failedMaxAge: 30 * DAY },
      forever: {},
    };
    for (const [name, expected] of Object.entries(table)) expect(rules(name), name).toEqual(expected);
  });

  it("may begin with a preset and say otherwise for some keys", () => {
    expect(rules({ preset: "conductor", keepLast: 3, keepSuccessful: false })).toEqual({
      keepLast: 3,
      keepPer: "workflow",
      maxAge: 7 * DAY,
      keepSuccessful: 0,
      failedMaxAge: 7 * DAY,
    });
  });

  it("drops nothing for its age that has no age given", () => {
    expect(rules({})).toEqual({});
    expect(rules({ preset: "default", failedMaxAge: Infinity }).failedMaxAge).toBe(Infinity);
  });

  it("takes times as milliseconds or as a number with a unit", () => {
    const times = {
      1500: 1500,
      0: 0,
      "250ms": 250,
      "90s": 90_000,
      "30m": 1_800_000,
      "12h": DAY / 2,
      "7d": 7 * DAY,
    };
    for (const [given, ms] of Object.entries(times))
      expect(rules({ maxAge: /^\d+$/.test(given) ? Number(given) : given }).maxAge).toBe(ms);
    expect(rules({ maxAge: "1.5d", failedMaxAge: "2w" })).toEqual({
      maxAge: 1.5 * DAY,
      failedMaxAge: 14 * DAY,
    });
  });

  it("refuses what is no time and no count", () => {
    for (const maxAge of ["7", "7 days", "-1d", "d", "", -1, Number.NaN, null, {}, true])
      expect(refused({ maxAge }), JSON.stringify(maxAge)).toContain("maxAge");
    for (const keepLast of [0, -1, 1.5, "5", Number.NaN, Infinity, true])
      expect(refused({ keepLast }), String(keepLast)).toContain("keepLast");
    expect(refused({ keepPerPhase: 0 })).toContain("keepPerPhase");
    expect(refused({ keepSuccessful: 0 })).toContain("keepSuccessful");
    expect(refused({ archive: "s3" })).toContain("archive");
  });

  it("refuses a key that it does not know and names the nearest one", () => {
    const names = {
      maxage: "maxAge",
      keeplast: "keepLast",
      keep_last: "keepLast",
      keepSuccesful: "keepSuccessful",
      failMaxAge: "failedMaxAge",
      keepPerPhases: "keepPerPhase",
      achive: "archive",
      prset: "preset",
      workflow: "workflows",
    };
    for (const [key, meant] of Object.entries(names)) {
      const message = refused({ [key]: 1 });
      expect(message).toContain(`Invalid ${key}: `);
      expect(message).toContain(`did you mean ${meant}`);
    }
  });

  it("refuses a preset that it does not know and names the nearest one", () => {
    expect(refused("defualt")).toContain("did you mean default");
    expect(refused({ preset: "agent" })).toContain("did you mean agentic");
    expect(refused("toString")).toContain("there is no preset toString");
  });

  it("has rules of their own for workflows, in the place of the general ones", () => {
    const archive = async () => undefined;
    const policy = { maxAge: "1d", archive, workflows: { audit: "forever", chat: { keepLast: 2 } } };
    expect(rules(policy, "other")).toEqual({ maxAge: DAY, archive });
    expect(rules(policy, "audit")).toEqual({ archive });
    expect(rules(policy, "chat")).toEqual({ keepLast: 2, archive });
    expect(refused({ workflows: { chat: { maxAgee: 1 } } })).toContain("did you mean maxAge");
    expect(refused({ workflows: { chat: { workflows: {} } } })).toContain("workflows");
    expect(refused({ workflows: { chat: 7 } })).toContain("workflows.chat");
    expect(refused({ workflows: 7 })).toContain("workflows");
  });

  it("is refused when it is nothing of the kind", () => {
    for (const policy of [undefined, null, 7, true]) expect(refused(policy)).toContain("policy");
  });
});
