import { describe, expect, it } from "vitest";
import { type ApiStage, createApiStage, ORIGIN } from "../../../test/support/api.ts";
import { type Store, workflow } from "../../index.ts";
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

/** What a store that can't tell what was written looks like. */
function mute(stage: ApiStage): Store {
  const { changes: _, ...store } = stage.lab.store;
  return store;
}

/** The stage's API with a feed that looks at all runs. */
const scanning = (workflows: Parameters<typeof createApiStage>[0]): ApiStage => {
  const stage = createApiStage(workflows);
  return createApiStage(workflows, { store: mute(stage) });
};

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

  it.each([
    ["that tells what was written", createApiStage],
    ["that doesn't", scanning],
  ])(
    "tell of all runs of a store %s, go on where they broke off, and say so when they can't",
    async (_, create) => {
      const stage = create([talk]);
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
      await stage.lab.clock.advance(1_000);
      expect(lost.text()).toContain("event: resync");
      await lost.stop();
      await stage.app.close();
    },
  );

  it("of all runs go on after any event on another server, without loss or doubling (S1-32)", async () => {
    const stage = createApiStage([talk]);
    const stream = await follow(stage, "");
    for (const id of ["a", "b", "c"]) await stage.lab.drive(stage.engine.start(talk, undefined, { id }));
    for (const id of ["a", "b", "c"]) await stage.lab.drive(stage.engine.signal(id, "say", "end"));
    await stage.lab.clock.advance(2_000);
    const all = stream.told().map(({ run, seq }) => `${run}@${seq}`);
    // Several events of one append: a reader may be cut off between them.
    expect(stream.told().some(({ id }) => id.includes("+"))).toBe(true);
    const other = createApiStage([], { store: stage.lab.store, engine: { execute: false } });
    for (const [index, { id }] of stream.told().entries()) {
      const again = await follow(other, "", id);
      await other.lab.clock.advance(1_000);
      expect(again.told().map(({ run, seq }) => `${run}@${seq}`)).toEqual(all.slice(index + 1));
      expect(again.text()).not.toContain("resync");
      await again.stop();
    }
    await stream.stop();
    await other.app.close();
    await stage.app.close();
  });

  it("begin with an id to come back to, and renew it while nothing happens", async () => {
    const stage = createApiStage([talk]);
    const stream = await follow(stage, "");
    const [, first] = /^: following\nid: (\S+)\n\n/.exec(stream.text()) ?? [];
    await stage.lab.drive(stage.engine.start(talk, undefined, { id: "a" }));
    await stage.lab.clock.advance(16_000);
    const [, second] = /: beat\nid: (\S+)\n\n$/.exec(stream.text()) ?? [];
    await stream.stop();
    const other = createApiStage([], { store: stage.lab.store, engine: { execute: false } });
    for (const [id, count] of [
      [first, (await stage.lab.store.read("a"))?.seq],
      [second, 0],
    ] as const) {
      const again = await follow(other, "", id);
      await other.lab.clock.advance(1_000);
      expect(again.told()).toHaveLength(count ?? -1);
      await again.stop();
    }
    await stage.app.close();
    await other.app.close();
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

  it.each(["?run=a&after=0", ""])("keep little for a slow reader, who loses nothing (%s)", async (query) => {
    const long = workflow("long", async (ctx) => {
      await ctx.signal("go");
      for (let step = 0; step < 1_500; step++) await ctx.step(`s-${step}`, () => step);
    });
    const stage = createApiStage([long]);
    const headers = { authorization: `Bearer ${["ada", ...PERMISSIONS].join(" ")}` };
    await stage.lab.drive(stage.engine.start(long, undefined, { id: "a" }));
    const { seq: begun = 0 } = (await stage.lab.store.read("a")) ?? {};
    const request = new Request(`${ORIGIN}/v1/events${query}`, { headers });
    const slow = await stage.lab.drive(stage.app.fetch(request));
    await stage.lab.drive(stage.engine.signal("a", "go"));
    await stage.lab.drive(stage.engine.result("a"));
    await stage.lab.clock.advance(2_000);
    const last = (await stage.lab.store.read("a"))?.seq ?? 0;
    // Nothing was read until here, so nearly all of it is still in the store only.
    const { told } = await readAll(stage, slow, `"seq":${last},`);
    expect(told).toEqual(upTo(last, query === "" ? begun + 1 : 1));
  });

  it("cut off a reader that takes nothing, who comes back to where it was", async () => {
    const stage = createApiStage([talk]);
    await stage.lab.drive(stage.engine.start(talk, undefined, { id: "a" }));
    const headers = { authorization: `Bearer ${["ada", ...PERMISSIONS].join(" ")}` };
    const request = new Request(`${ORIGIN}/v1/events?run=a`, { headers });
    const dead = await stage.lab.drive(stage.app.fetch(request));
    await stage.lab.clock.advance(31_000);
    // The server has ended it, so this ends too.
    expect(await dead.text()).toMatch(/^: following\nid: r\.\d+\n\n/);
  });
});

async function readAll(stage: ApiStage, response: Response, end: string) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (reader && !text.includes(end)) {
    const { value } = await stage.lab.drive(reader.read());
    text += decoder.decode(value, { stream: true });
  }
  await reader?.cancel();
  return { told: [...text.matchAll(/"seq":(\d+),/g)].map(([, seq]) => Number(seq)) };
}
