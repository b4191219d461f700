import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import { type Context, createEngine, type Engine, type Workflow, workflow } from "../../index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { parseEntry } from "../journal/journal.ts";
import type { StreamPiece } from "../streams.ts";

/** What somebody who reads from the beginning sees, with the items as they count in the end. */
async function seen(engine: Engine, name = "answer", from?: string) {
  const pieces: StreamPiece[] = [];
  const options = { follow: false, ...(from === undefined ? {} : { from }) };
  for await (const piece of engine.streams.read("r", name, options)) pieces.push(piece);
  return pieces;
}

function kept(pieces: readonly StreamPiece[]): unknown[] {
  const items: unknown[] = [];
  for (const piece of pieces) {
    if (piece.kind === "item") items.push(piece.value);
    else if (piece.kind === "restarted") items.length = piece.to;
  }
  return items;
}

const kinds = (pieces: readonly StreamPiece[]): string =>
  pieces.map((piece) => (piece.kind === "item" ? String(piece.value) : piece.kind)).join(" ");

/** Writes and crashes in the middle, then continues in another engine. */
async function crashed(lab: Lab, flow: Workflow, until: Promise<void>): Promise<Engine> {
  const first = lab.engine([flow]);
  await lab.drive(first.start(flow, undefined, { id: "r" }));
  await lab.drive(until);
  await lab.clock.advance(500);
  const { engine } = await lab.afterCrash(first, [flow], "r");
  return engine;
}

async function written(lab: Lab): Promise<number> {
  const entries = await lab.store.entries("r", { from: 1, limit: 1000 });
  const events = entries.flatMap((entry) => parseEntry("r", entry).events);
  return events.filter(({ kind }) => kind === "stream_written").length;
}

const run = async (lab: Lab, body: (ctx: Context) => Promise<unknown>): Promise<Engine> => {
  const flow = workflow("flow", body);
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  return engine;
};

describe("a stream of a run", () => {
  it("gives its items in order, and ends when it is closed", async () => {
    const engine = await run(createLab(), (ctx) =>
      ctx.step("ask", async () => {
        const answer = ctx.stream<string>("answer");
        for (const word of ["to", "be", "or"]) await answer.append(word);
        await answer.close();
      }),
    );
    const pieces = await seen(engine);
    expect(kinds(pieces)).toBe("to be or closed");
    expect(pieces.map((piece) => ("index" in piece ? piece.index : -1))).toEqual([0, 1, 2, -1]);
  });

  it("is written at a bounded rate, however many items there are", async () => {
    const lab = createLab();
    const go = signalled();
    const flow = workflow("flow", (ctx) =>
      ctx.step("ask", async () => {
        const answer = ctx.stream("answer", { everyMs: 100 });
        for (let token = 0; token < 1000; token++) {
          await answer.append(token);
          if (token % 100 === 99) await new Promise<void>((next) => lab.clock.setTimer(next, 50));
        }
        go.resolve();
      }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    expect(kept(await seen(engine))).toHaveLength(1000);
    // 500 ms at one write per 100 ms, and what is left at the end.
    expect(await written(lab)).toBeLessThanOrEqual(6);
  });

  it("is written early when there is much of it", async () => {
    const lab = createLab();
    const engine = await run(lab, (ctx) =>
      ctx.step("ask", async () => {
        const answer = ctx.stream("answer", { bytes: 10 });
        for (let item = 0; item < 4; item++) await answer.append("0123456789");
      }),
    );
    expect(kept(await seen(engine))).toHaveLength(4);
    expect(await written(lab)).toBe(4);
  });

  it("is durable before the outcome of the step that wrote it, awaited or not", async () => {
    const lab = createLab();
    await run(lab, (ctx) =>
      ctx.step("ask", async () => {
        void ctx.stream("answer").append("x").catch(String);
      }),
    );
    const entries = await lab.store.entries("r", { from: 1, limit: 100 });
    const order = entries.flatMap((entry) => parseEntry("r", entry).events.map(({ kind }) => kind));
    expect(order.indexOf("stream_written")).toBeGreaterThan(order.indexOf("step_started"));
    expect(order.indexOf("stream_written")).toBeLessThan(order.indexOf("step_completed"));
  });

  it("continues from a cursor, in another engine too", async () => {
    const lab = createLab();
    const engine = await run(lab, (ctx) =>
      ctx.step("ask", async () => {
        for (const word of ["a", "b", "c"]) await ctx.stream("answer").append(word);
      }),
    );
    const [first] = await seen(engine);
    expect(kinds(await seen(lab.engine([]), "answer", first?.cursor))).toBe("b c");
  });

  it("is followed while it is written, by a reader that began before it", async () => {
    const lab = createLab();
    const more = signalled();
    const flow = workflow("flow", (ctx) =>
      ctx.step("ask", async () => {
        const answer = ctx.stream("answer");
        await answer.append("first");
        await more.promise;
        await answer.append("second");
        await answer.close();
      }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const reader = lab.engine([]).streams.read("r", "answer");
    const next = async () => (await lab.drive(reader.next())).value as StreamPiece;
    expect(await next()).toMatchObject({ value: "first" });
    const second = next();
    more.resolve();
    expect(await second).toMatchObject({ value: "second" });
    expect(await next()).toMatchObject({ kind: "closed" });
    expect((await reader.next()).done).toBe(true);
  });
});

describe("a stream after a crash", () => {
  it("says that it was restarted where the step writes something else, and with which attempt", async () => {
    const lab = createLab();
    const half = signalled();
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("greet", () => ctx.stream("answer").append("Hello."));
      await ctx.step("ask", async () => {
        const answer = ctx.stream("answer");
        const again = ++calls > 1;
        for (const word of again ? ["The", "moon"] : ["The", "sun", "is"]) await answer.append(word);
        if (again) return;
        half.resolve();
        await hangs();
      });
    });
    const engine = await crashed(lab, flow, half.promise);
    const pieces = await seen(engine);
    expect(kinds(pieces)).toBe("Hello. The sun is restarted moon");
    expect(pieces.find(({ kind }) => kind === "restarted")).toMatchObject({ to: 2, attempt: 2 });
    expect(kept(pieces)).toEqual(["Hello.", "The", "moon"]);
  });

  it("continues without a word where the same is written again", async () => {
    const lab = createLab();
    const half = signalled();
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step("ask", async () => {
        const answer = ctx.stream("answer");
        for (const word of ["a", "b"]) await answer.append(word);
        if (++calls > 1) return answer.append("c");
        half.resolve();
        return hangs();
      }),
    );
    expect(kinds(await seen(await crashed(lab, flow, half.promise)))).toBe("a b c");
  });

  it("voids what the second attempt doesn't write any more", async () => {
    const lab = createLab();
    const half = signalled();
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step("ask", async () => {
        const answer = ctx.stream("answer");
        await answer.append("a");
        if (++calls > 1) return;
        await answer.append("b");
        half.resolve();
        await hangs();
      }),
    );
    const pieces = await seen(await crashed(lab, flow, half.promise));
    expect(kinds(pieces)).toBe("a b restarted");
    expect(kept(pieces)).toEqual(["a"]);
  });

  it("continues in the workflow's function, iteration by iteration", async () => {
    const lab = createLab();
    const half = signalled();
    let isFirst = true;
    const flow = workflow("flow", async (ctx) => {
      const log = ctx.stream("answer");
      await log.append("begin");
      await ctx.loop("turn", { n: 0 }, async (state, turn) => {
        await log.append(`turn ${turn.index}`);
        await ctx.step("work", async () => {
          if (turn.index === 2 && isFirst) {
            isFirst = false;
            await log.flush();
            half.resolve();
            await hangs();
          }
        });
        state.n++;
        return state.n === 4 ? turn.done() : undefined;
      });
      await log.close();
    });
    const pieces = await seen(await crashed(lab, flow, half.promise));
    expect(kinds(pieces)).toBe("begin turn 0 turn 1 turn 2 turn 3 closed");
  });

  it("stays as it was when it was closed before, whatever is written to it then", async () => {
    const lab = createLab();
    const half = signalled();
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      const answer = ctx.stream("answer");
      await answer.append(`call ${++calls}`);
      await answer.close();
      half.resolve();
      if (calls === 1) await ctx.step("hang", hangs);
      await ctx.step("after", () => 1);
    });
    const first = lab.engine([flow]);
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.drive(half.promise);
    await lab.crash(first);
    await lab.clock.advance(20_000);
    const engine = lab.engine([flow]);
    await lab.drive(engine.recover());
    await lab.clock.advance(1_000);
    expect(kinds(await seen(engine))).toBe("call 1 closed");
  });

  it("takes nothing from a worker that has lost the run", async () => {
    const lab = createLab();
    const [begun, stale] = [signalled(), signalled()];
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step("ask", async () => {
        const answer = ctx.stream("answer");
        const call = ++calls;
        await answer.append(`worker ${call}`);
        begun.resolve();
        if (call > 1) return;
        await stale.promise;
        await answer.append("too late").catch(() => undefined);
      }),
    );
    // A process that stands still doesn't renew its claim, and doesn't know that it is gone.
    const still = createFakeClock();
    const first = createEngine({ store: lab.store, workflows: [flow], clock: still, claimMs: 10_000 });
    const starting = first.start(flow, undefined, { id: "r" });
    await still.advance(500);
    await starting;
    await still.advance(500);
    await begun.promise;
    await lab.clock.advance(20_000);
    const engine = lab.engine([flow]);
    await lab.drive(engine.recover());
    await lab.drive(engine.settled("r"));
    stale.resolve();
    await still.advance(500);
    expect(kept(await seen(engine))).toEqual(["worker 2"]);
  });
});

describe("what a stream refuses", () => {
  const failure = async (body: (ctx: Context) => Promise<unknown>): Promise<unknown> => {
    const lab = createLab();
    const engine = await run(lab, body);
    const error = await lab.drive(engine.result("r").catch((thrown: Error) => thrown.cause));
    return (error as { code?: string }).code;
  };

  it("is an item after it was closed (HF-6202)", async () => {
    const body = async (ctx: Context): Promise<void> => {
      const answer = ctx.stream("answer");
      await answer.close();
      await answer.append("x");
    };
    expect(await failure(body)).toBe("HF-6202");
  });

  it("is a second step that writes at the same time, and a mix of steps and the function (HF-6203)", async () => {
    const both = (ctx: Context) =>
      ctx.all("both", [
        async () => {
          await ctx.stream("answer").append(1);
          await new Promise((resolve) => setImmediate(resolve));
        },
        () => ctx.stream("answer").append(2),
      ]);
    expect(await failure(both)).toBe("HF-6203");
    const mixed = async (ctx: Context): Promise<void> => {
      await ctx.stream("answer").append(1);
      await ctx.step("s", () => ctx.stream("answer").append(2), { retry: false });
    };
    expect(await failure(mixed)).toBe("HF-6203");
  });

  it("is an item that looks like the mark of a restart (HF-6204), and one that isn't plain data", async () => {
    expect(await failure((ctx) => ctx.stream("answer").append({ type: "data-restarted" }))).toBe("HF-6204");
    expect(await failure((ctx) => ctx.stream("answer").append(() => 1))).toBe("HF-2001");
  });

  it("is a cursor that nobody was given (HF-6201), and a run that doesn't exist (HF-1001)", async () => {
    const engine = await run(createLab(), (ctx) => ctx.stream("answer").append(1));
    for (const from of ["", "12", "000000009999_00000000", "-1"])
      await expect(seen(engine, "answer", from)).rejects.toMatchObject({ code: "HF-6201" });
    await expect(engine.streams.list("other")).rejects.toMatchObject({ code: "HF-1001" });
  });
});
