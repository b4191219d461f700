import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { type HoldfastError, workflow } from "../../../index.ts";

/** A run that has ended, with its checkpoints from the first to the last. */
async function ended() {
  const lab = createLab();
  const flow = workflow("flow", async (ctx) => {
    await ctx.step("one", () => 1);
    await ctx.checkpoint("draft");
    await ctx.step("two", () => 2);
    await ctx.checkpoint("draft");
    return ctx.step("three", () => 3);
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.result("r"));
  const ids = (await engine.checkpoints.list("r")).map(({ id }) => id).reverse();
  const { checkpoints } = engine;
  const find = async (label: string) => (await checkpoints.show(`r@${label}`)).id;
  const labels = async (id: string) => (await checkpoints.show(id)).labels;
  const seq = async () => (await engine.get("r"))?.seq;
  const code = (promise: Promise<unknown>) =>
    lab.drive(
      promise.then(
        () => "none",
        (error: HoldfastError) => error.code,
      ),
    );
  const [one = "", first = "", two = "", second = "", three = ""] = ids;
  return { lab, engine, checkpoints, find, labels, seq, code, one, first, two, second, three };
}

describe("a name given to a checkpoint", () => {
  it("moves when it is given to another one, also to an older one, and back", async () => {
    const { lab, checkpoints, find, labels, one, two, three } = await ended();
    for (const id of [two, three, one, two, three]) {
      expect(await lab.drive(checkpoints.label(id, "good"))).toBe(id);
      expect(await find("good")).toBe(id);
      const named = await Promise.all(
        [one, two, three].map(async (each) => [each, await labels(each)] as const),
      );
      for (const [each, has] of named) expect(has).toEqual(each === id ? ["good"] : []);
    }
    const listed = (await checkpoints.list("r")).filter((item) => item.labels.includes("good"));
    expect(listed.map(({ id }) => id)).toEqual([three]);
  });

  it("takes the place of the one it was given before, which then names nothing", async () => {
    const { lab, checkpoints, labels, code, one } = await ended();
    await lab.drive(checkpoints.label(one, "good"));
    await lab.drive(checkpoints.label("r@good", "better"));
    expect(await labels(one)).toEqual(["better"]);
    expect(await code(checkpoints.show("r@good"))).toBe("HF-1022");
  });

  it("can be taken away, once or twice, and what it was marked with stays", async () => {
    const { lab, checkpoints, find, labels, seq, code, second } = await ended();
    await lab.drive(checkpoints.label(second, "good"));
    expect(await labels(second)).toEqual(["draft", "good"]);
    expect(await lab.drive(checkpoints.unlabel("r@good", { actor: "Ada", reason: "not so good" }))).toBe(
      second,
    );
    expect(await labels(second)).toEqual(["draft"]);
    expect(await code(checkpoints.show("r@good"))).toBe("HF-1022");
    const before = await seq();
    await lab.drive(checkpoints.unlabel(second));
    expect(await seq()).toBe(before);
    expect(await find("draft")).toBe(second);
  });

  it("counts before a mark of that name when it was said later, and the newest mark before older ones", async () => {
    const { lab, engine, checkpoints, find, first, second, one } = await ended();
    expect([await find("draft"), first === second]).toEqual([second, false]);
    await lab.drive(checkpoints.label(one, "draft"));
    expect(await find("draft")).toBe(one);
    const mark = await lab.drive(checkpoints.mark("r", "draft"));
    expect(await find("draft")).toBe(mark);
    await lab.drive(engine.fork(mark, { id: "f" }));
    // Given names stay with the source, marks are part of the copy.
    expect((await checkpoints.show("f@draft")).seq).toBe(Number(mark.split("@")[1]));
  });

  it("is refused where it could not be found again, or where there is nothing to name; nothing is written", async () => {
    const { checkpoints, code, seq, one } = await ended();
    const before = await seq();
    for (const name of [
      "",
      "14",
      "0",
      "x".repeat(129),
      "a\u0000b",
      "line\nbreak",
      "\u001b[2J",
      5 as never,
      null as never,
    ])
      expect(await code(checkpoints.label(one, name)), JSON.stringify(name)).toMatch(/^HF-10(03|50)$/);
    for (const [address, expected] of [
      ["none@1", "HF-1001"],
      ["r@999", "HF-1022"],
      ["r@2", "HF-1022"],
      ["r@nobody", "HF-1022"],
      ["r@0", "HF-1021"],
      ["", "HF-1021"],
    ] as const)
      for (const act of [
        () => checkpoints.label(address, "x"),
        () => checkpoints.unlabel(address),
        () => checkpoints.pin(address),
        () => checkpoints.unpin(address),
      ])
        expect(await code(act()), address).toBe(expected);
    expect(await seq()).toBe(before);
  });

  it("holds whatever can be printed", async () => {
    const { lab, checkpoints, find, one } = await ended();
    for (const name of ["a b", "after 'review'", "für Ada ✓", "a@b", "a/b:c#d", "1a", "x".repeat(128)]) {
      await lab.drive(checkpoints.label(one, name));
      expect(await find(name)).toBe(one);
    }
  });
});

describe("an address in the library (C11)", () => {
  it("names a checkpoint by first, last, phase or step, as on the command line", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("load", () => 1);
      await ctx.each("match", [1, 2], (item) => item);
      return ctx.step("pay", () => "paid");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const all = await engine.checkpoints.list("r");
    const { checkpoints } = engine;
    const of = (name: string) => all.find(({ step }) => step === name)?.id;
    expect(await checkpoints.find("r@first")).toBe(all.at(-1)?.id);
    expect(await checkpoints.find("r@last")).toBe(all[0]?.id);
    expect(await checkpoints.find("r@load")).toBe(of("load"));
    expect(await checkpoints.find("r@match")).toBe(all.find(({ phase }) => phase === "match")?.id);
    expect(await checkpoints.find("r@match[0]")).toBe(of("match[0]"));
    expect((await checkpoints.show("r@load")).id).toBe(of("load"));
    expect((await checkpoints.diff("r@load", "r@match[0]")).to).toBe(of("match[0]"));
    const fork = await lab.drive(engine.fork("r@load", { id: "f" }));
    expect(fork.origin?.seq).toBe(Number(of("load")?.split("@")[1]));
    await expect(checkpoints.show("r@nowhere")).rejects.toMatchObject({
      code: "HF-1022",
      message: expect.stringContaining("There is no checkpoint r@nowhere."),
    });
  });

  it("means a label before anything else of that name", async () => {
    const { lab, checkpoints, two } = await ended();
    for (const name of ["first", "last", "one"]) {
      await lab.drive(checkpoints.label(two, name));
      expect(await checkpoints.find(`r@${name}`)).toBe(two);
    }
  });
});

describe("a name or a pin of a checkpoint whose values are dropped", () => {
  it("is refused, and may be taken away", async () => {
    const { lab, engine, checkpoints, code, labels, one } = await ended();
    await lab.drive(checkpoints.label(one, "good"));
    await lab.clock.advance(1_000);
    expect((await lab.drive(engine.retention.prune({ maxAge: 0 }))).runs).toHaveLength(1);
    for (const act of [() => checkpoints.pin(one), () => checkpoints.label(one, "better")])
      expect(await code(act())).toBe("HF-1023");
    expect(await lab.drive(checkpoints.unlabel(one))).toBe(one);
    expect(await lab.drive(checkpoints.unpin(one))).toBe(one);
    expect(await checkpoints.list("r", { all: true })).toEqual([]);
    await expect(labels(one)).rejects.toMatchObject({ code: "HF-1023" });
  });
});
