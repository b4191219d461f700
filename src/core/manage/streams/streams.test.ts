import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { type Engine, workflow } from "../../../index.ts";
import type { StreamPiece } from "../../streams.ts";

const talk = workflow("talk", async (ctx) => {
  await ctx.step("ask", async () => {
    for (const word of ["to", "be"]) await ctx.stream("answer").append(word);
  });
  await ctx.gate("more", { choices: ["yes"] });
  await ctx.step("more", async () => {
    await ctx.stream("answer").append("or");
    await ctx.stream("answer").close();
  });
});

async function setup() {
  const lab = createLab();
  const engine = lab.engine([talk]);
  await lab.drive(engine.start(talk, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  const end = async (id = "r"): Promise<void> => {
    await lab.drive(engine.answer(id, "more", { choice: "yes", actor: "ada" }));
    await lab.drive(engine.result(id));
  };
  return { lab, engine, end };
}

async function words(engine: Engine, id = "r"): Promise<string> {
  const pieces: StreamPiece[] = [];
  for await (const piece of engine.streams.read(id, "answer", { follow: false })) pieces.push(piece);
  return pieces.map((piece) => (piece.kind === "item" ? piece.value : piece.kind)).join(" ");
}

describe("the streams of a run", () => {
  it("are listed with what they hold", async () => {
    const { engine, end } = await setup();
    expect(await engine.streams.list("r")).toMatchObject([{ name: "answer", items: 2, closed: false }]);
    await end();
    expect(await engine.streams.list("r")).toMatchObject([{ name: "answer", items: 3, closed: true }]);
  });

  it("are part of a fork, which writes on by itself", async () => {
    const { lab, engine, end } = await setup();
    const run = await engine.get("r");
    await lab.drive(engine.fork(`r@${run?.seq}`, { id: "f" }));
    await lab.drive(engine.settled("f"));
    await end("f");
    expect(await words(engine, "f")).toBe("to be or closed");
    expect(await words(engine)).toBe("to be");
  });

  it("are part of an export, at the same cursors", async () => {
    const { engine, end } = await setup();
    await end();
    const other = createLab();
    const there = other.engine([talk]);
    await other.drive(there.transfer.importRuns(engine.transfer.exportRun("r")));
    expect(await words(there)).toBe("to be or closed");
    const [first] = (await engine.streams.part("r", "answer")).pieces;
    expect((await there.streams.part("r", "answer")).pieces[0]).toEqual(first);
  });

  it("say that they are gone when retention has dropped the run's values (HF-6205)", async () => {
    const { lab, engine, end } = await setup();
    await end();
    await lab.clock.advance(1_000);
    const report = await lab.drive(engine.retention.prune({ maxAge: 0, keepSuccessful: false }));
    expect(report.runs).toHaveLength(1);
    await expect(words(engine)).rejects.toMatchObject({ code: "HF-6205" });
  });

  it("end for a reader who leaves", async () => {
    const { lab, engine } = await setup();
    const leaving = new AbortController();
    const reader = engine.streams.read("r", "answer", { signal: leaving.signal });
    await reader.next();
    await reader.next();
    const last = reader.next();
    leaving.abort();
    expect(await lab.drive(last)).toEqual({ done: true, value: undefined });
  });

  it("end for a reader when the run fails, and go on when it is resumed", async () => {
    const lab = createLab();
    let isBroken = true;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("ask", () => ctx.stream("answer").append("half"));
      await ctx.step(
        "fail",
        () => {
          if (isBroken) throw new Error("no");
        },
        { retry: false },
      );
      await ctx.step("rest", () => ctx.stream("answer").append("whole"));
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const all: unknown[] = [];
    const reading = (async () => {
      for await (const piece of engine.streams.read("r", "answer")) all.push(piece);
    })();
    await lab.drive(reading);
    expect((await engine.streams.part("r", "answer")).closed).toBe(false);
    isBroken = false;
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.result("r"));
    expect(await words(engine)).toBe("half whole");
    expect((await engine.streams.part("r", "answer")).closed).toBe(true);
  });
});
