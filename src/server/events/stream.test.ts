import { describe, expect, it } from "vitest";
import { type ApiStage, createApiStage, ORIGIN } from "../../../test/support/api.ts";
import { workflow } from "../../index.ts";
import { PERMISSIONS } from "../access/permission.ts";

const talk = workflow("talk", async (ctx) => {
  for (let turn = 0; ; turn++) {
    const { payload } = await ctx.signal("say");
    await ctx.step(`turn-${turn}`, () => payload);
    if (payload === "end") return turn;
  }
});

interface Told {
  readonly id: string;
  readonly run: string;
  readonly seq: number;
}

/** Reads a stream while the clock runs. */
async function follow(stage: ApiStage, query: string, lastId?: string) {
  const headers = new Headers({ authorization: `Bearer ${["ada", ...PERMISSIONS].join(" ")}` });
  if (lastId !== undefined) headers.set("last-event-id", lastId);
  const response = await stage.lab.drive(
    stage.app.fetch(new Request(`${ORIGIN}/v1/events${query}`, { headers })),
  );
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.getReader();
  if (!reader) throw new Error("no body");
  let text = "";
  let isOver = false;
  const decoder = new TextDecoder();
  const pump = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    isOver = true;
  };
  const pumping = pump();
  const told = (): Told[] =>
    [...text.matchAll(/id: (\S+)\nevent: run\ndata: (.*)\n\n/g)].map(([, id = "", data = ""]) => ({
      id,
      ...(JSON.parse(data) as Omit<Told, "id">),
    }));
  return {
    told,
    text: () => text,
    isOver: () => isOver,
    async stop() {
      await reader.cancel();
      await pumping;
    },
  };
}

const seqs = (told: readonly Told[], run: string): number[] =>
  told.filter((one) => one.run === run).map(({ seq }) => seq);
const upTo = (last: number, from = 1): number[] =>
  Array.from({ length: last - from + 1 }, (_, index) => from + index);

describe("streams of events", () => {
  it("tell every event of named runs once, in order, whichever process writes them", async () => {
    const stage = createApiStage([], { engine: { execute: false } });
    const worker = stage.lab.engine([talk]);
    await stage.lab.drive(worker.start(talk, undefined, { id: "a" }));
    await stage.lab.drive(worker.start(talk, undefined, { id: "b" }));
    const stream = await follow(stage, "?run=a&run=b&after=0");
    await stage.lab.drive(worker.signal("a", "say", "end"));
    await stage.lab.drive(worker.result("a"));
    await stage.lab.clock.advance(2_000);
    const row = await stage.lab.store.read("a");
    expect(seqs(stream.told(), "a")).toEqual(upTo(row?.seq ?? 0));
    expect(seqs(stream.told(), "b")).toEqual(upTo((await stage.lab.store.read("b"))?.seq ?? 0));
    await stream.stop();
  });

  it("go on after Last-Event-ID in another process, without loss or doubling", async () => {
    const stage = createApiStage([talk]);
    await stage.lab.drive(stage.engine.start(talk, undefined, { id: "a" }));
    const first = await follow(stage, "?run=a&after=0");
    await stage.lab.drive(stage.engine.signal("a", "say", "x"));
    await stage.lab.clock.advance(1_000);
    const before = first.told();
    await first.stop();
    await stage.lab.drive(stage.engine.signal("a", "say", "end"));
    await stage.lab.drive(stage.engine.result("a"));
    const other = createApiStage([], { store: stage.lab.store, engine: { execute: false } });
    const second = await follow(other, "?run=a", before.at(-1)?.id);
    await other.lab.clock.advance(2_000);
    const all = [...seqs(before, "a"), ...seqs(second.told(), "a")];
    expect(all).toEqual(upTo((await stage.lab.store.read("a"))?.seq ?? 0));
    await second.stop();
  });

  it("tell of all runs, go on where they broke off, and say so when they can't", async () => {
    const stage = createApiStage([talk]);
    const stream = await follow(stage, "");
    await stage.lab.drive(stage.engine.start(talk, undefined, { id: "a" }));
    await stage.lab.clock.advance(1_000);
    const before = stream.told();
    expect(seqs(before, "a")).toEqual(upTo((await stage.lab.store.read("a"))?.seq ?? 0));
    await stream.stop();
    await stage.lab.drive(stage.engine.signal("a", "say", "end"));
    await stage.lab.drive(stage.engine.result("a"));
    await stage.lab.clock.advance(2_000);
    const again = await follow(stage, "", before.at(-1)?.id);
    await stage.lab.clock.advance(1_000);
    const all = [...seqs(before, "a"), ...seqs(again.told(), "a")];
    expect(all).toEqual(upTo((await stage.lab.store.read("a"))?.seq ?? 0));
    await again.stop();
    const lost = await follow(stage, "", "elsewhere.7");
    await stage.lab.clock.advance(100);
    expect(lost.text()).toContain("event: resync");
    await lost.stop();
    await stage.app.close();
  });

  it("beat while nothing happens, and refuse an id that is not theirs", async () => {
    const stage = createApiStage([talk]);
    await stage.lab.drive(stage.engine.start(talk, undefined, { id: "a" }));
    const stream = await follow(stage, "?run=a");
    await stage.lab.clock.advance(31_000);
    expect(stream.text().match(/: beat/g)).toHaveLength(2);
    await stream.stop();
    for (const id of ["r.x", "r.1.2", "nonsense"]) {
      const response = await stage.send("GET", "/v1/events?run=a", { headers: { "last-event-id": id } });
      expect(response.status).toBe(400);
    }
  });

  it("cut off a reader that falls behind, who comes back and loses nothing", async () => {
    const long = workflow("long", async (ctx) => {
      await ctx.signal("go");
      for (let step = 0; step < 1_100; step++) await ctx.step(`s-${step}`, () => step);
    });
    const stage = createApiStage([long]);
    await stage.lab.drive(stage.engine.start(long, undefined, { id: "a" }));
    const headers = { authorization: `Bearer ${["ada", ...PERMISSIONS].join(" ")}` };
    const request = new Request(`${ORIGIN}/v1/events?run=a&after=0`, { headers });
    const slow = await stage.lab.drive(stage.app.fetch(request));
    await stage.lab.drive(stage.engine.signal("a", "go"));
    await stage.lab.drive(stage.engine.result("a"));
    await stage.lab.clock.advance(2_000);
    const last = (await stage.lab.store.read("a"))?.seq ?? 0;
    // Nothing was read until here. The server has ended it, so this ends too.
    const told = [...(await slow.text()).matchAll(/^id: r\.(\d+)\nevent: run/gm)].map(([, seq]) =>
      Number(seq),
    );
    expect(told.length).toBeLessThan(2_001);
    expect(last).toBeGreaterThan(2_001);
    const again = await follow(stage, "?run=a", `r.${told.at(-1)}`);
    await stage.lab.clock.advance(1_000);
    expect([...told, ...seqs(again.told(), "a")]).toEqual(upTo(last));
    await again.stop();
  });
});
