import assert from "node:assert/strict";
import { createEngine, type Engine } from "../../core/engine/engine.ts";
import type { Store } from "../../core/store/contract.ts";
import type { StreamPiece } from "../../core/streams.ts";
import { workflow } from "../../core/workflow.ts";
import type { Behaviour } from "./suite.ts";

/** Long enough that its values live beside the journal. */
const LONG = "ä".repeat(9_000);

const talk = workflow("talk", (ctx) =>
  ctx.step("say", async () => {
    const answer = ctx.stream("answer", { everyMs: 1 });
    await answer.append("one");
    await answer.flush();
    await answer.append({ long: LONG });
    await answer.flush();
    await answer.append(null);
    await answer.close();
  }),
);

async function talked(store: Store): Promise<Engine> {
  const engine = createEngine({ store, workflows: [talk] });
  await engine.start(talk, undefined, { id: "talk-1" });
  await engine.result("talk-1");
  return engine;
}

async function read(engine: Engine, from?: string): Promise<readonly StreamPiece[]> {
  const pieces: StreamPiece[] = [];
  const options = from === undefined ? {} : { from };
  for await (const piece of engine.streams.read("talk-1", "answer", options)) pieces.push(piece);
  return pieces;
}

const values = (pieces: readonly StreamPiece[]): unknown[] =>
  pieces.map((piece) => (piece.kind === "item" ? piece.value : piece.kind));

/** What a run writes with `ctx.stream` is kept like everything else of it. */
export const streams: Behaviour = {
  name: "streams of runs",
  cases: {
    "are read as they were written, from any cursor on": async ({ store }) => {
      const writer = await talked(store);
      const reader = createEngine({ store, execute: false });
      const all = await read(reader);
      assert.deepEqual(values(all), ["one", { long: LONG }, null, "closed"]);
      for (const [index, piece] of all.entries())
        assert.deepEqual(values(await read(reader, piece.cursor)), values(all).slice(index + 1));
      const cursors = all.map(({ cursor }) => cursor);
      assert.deepEqual(cursors, [...cursors].sort());
      await writer.close();
      await reader.close();
    },

    "are gone when their run is deleted": async ({ store }) => {
      const engine = await talked(store);
      await engine.delete("talk-1");
      await assert.rejects(read(engine), { code: "HF-1001" });
      await engine.close();
    },
  },
};

export const keptStreams: Behaviour = {
  name: "streams of runs in a reopened store",
  needs: "reopen",
  cases: {
    "are read as they were written": async ({ store, reopen }) => {
      await (await talked(store)).close();
      const engine = createEngine({ store: await reopen(), execute: false });
      assert.deepEqual(values(await read(engine)), ["one", { long: LONG }, null, "closed"]);
      await engine.close();
    },
  },
};
