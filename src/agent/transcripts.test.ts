import { describe, expect, it } from "vitest";
import { sampled } from "../../test/support/exhaustive.ts";
import { createLab } from "../../test/support/lab.ts";
import { edited, Random, wildSpec } from "../../test/support/providers/wild-talk.ts";
import { WIRES } from "../../test/support/providers/wire.ts";
import { HoldfastError, workflow } from "../index.ts";
import { type Message, type ModelRequest, messagesAt, runAgent, transcript } from "./index.ts";

const JOURNALS = sampled(60, 10_000);
const CHUNK = 500;
const CHUNKS = Array.from({ length: Math.ceil(JOURNALS / CHUNK) }, (_, index) => ({
  first: index * CHUNK + 1,
  last: Math.min((index + 1) * CHUNK, JOURNALS),
}));
/** Positions of a journal that are looked at. */
const PLACES = 5;

type Wire = (typeof WIRES)[number];

/** Runs one agent through two models, with a crash between them and forks, and returns what they left. */
async function journalOf(seed: number) {
  const random = new Random(seed);
  const lab = createLab();
  const requests: { readonly wire: Wire; readonly request: ModelRequest }[] = [];
  const flowFor = (stopAt: number) => {
    const wire = random.pick(WIRES);
    const spec = wildSpec(random, wire.model, stopAt, (request) => requests.push({ wire, request }));
    return workflow("flow", (ctx) => runAgent(ctx, "a", { ...spec, prompt: "begin" }));
  };
  const first = flowFor(random.int(1, 4));
  const engine = lab.engine([first]);
  await lab.drive(engine.start(first, undefined, { id: "r" }));
  await lab.clock.advance(5_000);
  const second = flowFor(Number.POSITIVE_INFINITY);
  const { engine: next } = await lab.afterCrash(engine, [second], "r");
  return { random, lab, engine: next, requests };
}

/** The problems of a conversation at every provider; none where it is refused before anything is sent. */
async function problemsOf(messages: readonly Message[]): Promise<string[]> {
  const found: string[] = [];
  for (const wire of WIRES) {
    let sent: Message[];
    try {
      sent = transcript(messages, { to: wire.model });
    } catch (error) {
      if (HoldfastError.is(error, "HF-2165")) return [];
      throw error;
    }
    found.push(...(await wire.problems(sent)).map((problem) => `${wire.model}: ${problem}`));
  }
  return found;
}

describe("the transcript", () => {
  it.each(CHUNKS)(
    "of journals $first to $last is valid for every provider: at any place, after crashes, compaction, edits, forks and changes of model",
    async ({ first, last }) => {
      const counts = { sent: 0, places: 0, edits: 0, forks: 0 };
      for (let seed = first; seed <= last; seed++) {
        const { random, lab, engine, requests } = await journalOf(seed);
        for (const { wire, request } of requests) {
          counts.sent++;
          expect(await wire.problems(request.messages), `seed ${seed}, turn ${request.turn}`).toEqual([]);
        }
        const places = (await engine.checkpoints.list("r", { all: true, limit: 1_000 })).map(({ id }) => id);
        for (let place = 0; place < PLACES; place++) {
          const at = random.pick(places);
          const messages = messagesAt(await engine.checkpoints.state(at), "a");
          if (messages.length === 0) continue;
          counts.places++;
          expect(await problemsOf(messages), `seed ${seed} at ${at}`).toEqual([]);
          counts.edits++;
          expect(await problemsOf(edited(random, messages)), `seed ${seed} at ${at}, edited`).toEqual([]);
        }
        if (seed % 10 === 0) {
          const fork = await lab.drive(engine.fork(random.pick(places), { effects: "simulate" }));
          await lab.drive(engine.settled(fork.id)).catch(() => undefined);
          const messages = messagesAt(await engine.checkpoints.state(fork.id), "a");
          counts.forks++;
          if (messages.length > 0) expect(await problemsOf(messages), `seed ${seed}, forked`).toEqual([]);
        }
        await lab.crash(engine);
      }
      expect(counts.places).toBeGreaterThan(last - first);
    },
    7_200_000,
  );

  const user: Message = { role: "user", text: "begin" };
  const asks: Message = { role: "assistant", text: "", calls: [{ id: "a", tool: "t", input: {} }] };
  const result: Message = { role: "tool", call: "a", tool: "t", text: "done" };
  it.each<[string, Message[]]>([
    ["a call without a result", [user, asks]],
    ["a call that somebody talked over", [user, asks, user]],
    ["a result of no call", [user, result]],
    ["two results of a call", [user, asks, result, result]],
    ["half of a character", [{ role: "user", text: "half \uD83D" }]],
    ["a model's words at the end", [user, { role: "assistant", text: "well" }]],
    [
      "a tool of an odd name",
      [user, { ...asks, calls: [{ id: "a", tool: "no name", input: {} }] }, { ...result, tool: "no name" }],
    ],
  ])("is judged by rules that refuse %s at every provider", async (_, messages) => {
    for (const wire of WIRES) expect(await wire.problems(messages), wire.model).not.toEqual([]);
    if (!messages.includes(result) || messages.includes(asks)) return;
    expect(() => transcript(messages)).toThrow(expect.objectContaining({ code: "HF-2165" }));
  });
});
