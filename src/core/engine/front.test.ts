import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { createEngine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";

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

  it("says what is wrong with what is easily mistaken: a promise, an order, a name twice", () => {
    const refused = (call: () => unknown): unknown => {
      try {
        return void call();
      } catch (error) {
        return (error as Error).message;
      }
    };
    const body = async (): Promise<number> => 1;
    const store = Promise.resolve(createMemoryStore());
    expect(refused(() => createEngine({ store: store as never }))).toContain("Put await before the call");
    expect(refused(() => workflow("x", body as never, { version: "2" } as never))).toContain(
      "workflow(name, options, body)",
    );
    expect(refused(() => workflow("x", undefined as never))).toContain("Invalid body");
    expect(refused(() => createLab().engine([hello, workflow("hello", body)]))).toContain(
      "two of them are named hello",
    );
    expect(refused(() => createLab().engine([hello, hello]))).toBe(undefined);
    expect(refused(() => workflow("", body))).toContain("The empty text is not a valid name");
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

  it("refuses another input for an id that has one, and answers the same one (C13)", async () => {
    const lab = createLab();
    const pay = workflow("pay", (ctx, order: { id: string; cents?: number }) =>
      ctx.step("pay", () => order.id),
    );
    const engine = lab.engine([pay]);
    const start = (order: { id: string; cents?: number }) =>
      lab.drive(engine.start(pay, order, { id: "order-1" }));
    await start({ id: "a", cents: 300 });
    expect((await start({ cents: 300, id: "a" })).id).toBe("order-1");
    await expect(start({ id: "a", cents: 999 })).rejects.toMatchObject({ code: "HF-1041" });
    await expect(start({ id: "a" })).rejects.toMatchObject({ code: "HF-1041" });
    expect(await lab.drive(engine.result("order-1"))).toBe("a");
  });

  it("lists the open gates of all runs, the longest open first (C15)", async () => {
    const lab = createLab();
    const ask = workflow("ask", (ctx, show: string) => ctx.gate("agree", { show, choices: ["yes", "no"] }));
    const engine = lab.engine([ask, hello]);
    for (const id of ["b", "a"]) {
      await lab.drive(engine.start(ask, `for ${id}`, { id }));
      await lab.drive(engine.settled(id));
    }
    await lab.drive(engine.start(hello, "Ada", { id: "c" }));
    await lab.drive(engine.result("c"));
    const open = await engine.gates();
    expect(open.map(({ runId, gate, show }) => [runId, gate, show])).toEqual([
      ["b", "agree", "for b"],
      ["a", "agree", "for a"],
    ]);
    expect(open).toEqual([...(await engine.gates("b")), ...(await engine.gates("a"))]);
    await lab.drive(engine.answer("b", "agree", { choice: "yes" }));
    await lab.drive(engine.result("b"));
    expect((await engine.gates()).map(({ runId }) => runId)).toEqual(["a"]);
  });
});
