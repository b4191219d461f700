import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";

const hello = workflow("hello", (ctx, name: string) => ctx.step("greet", () => `Hello ${name}`));

describe("the front of the engine", () => {
  it("refuses to start what is not a workflow, and makes no run of it (E16)", async () => {
    const lab = createLab();
    const engine = lab.engine([]);
    for (const wrong of [0, "a", {}, null, undefined, () => 1, { name: "x" }])
      await expect(engine.start(wrong as never, undefined, { id: "r" })).rejects.toMatchObject({
        code: "HF-1003",
      });
    expect(() => engine.register({} as never)).toThrow(expect.objectContaining({ code: "HF-1003" }));
    expect(await engine.get("r")).toBeNull();
  });

  it("lists a page of runs without being told how many (E18)", async () => {
    const lab = createLab();
    const engine = lab.engine([hello], { execute: false });
    for (let n = 0; n < 103; n++) await lab.drive(engine.start(hello, "Ada"));
    const first = await engine.list();
    expect(first.runs).toHaveLength(100);
    const rest = await engine.list({ cursor: first.cursor as string });
    expect([rest.runs.length, rest.cursor]).toEqual([3, null]);
    expect((await engine.list({ limit: 2 })).runs).toHaveLength(2);
  });

  it("refuses a status that does not exist (E18)", async () => {
    const engine = createLab().engine([hello]);
    for (const status of [["nope"], ["completed", "done"], "completed"])
      await expect(engine.list({ status: status as never })).rejects.toMatchObject({ code: "HF-1003" });
  });
});
