import { describe, expect, it, vi } from "vitest";
import { silentLogger } from "../../core/logger.ts";
import type { BeatThread, Hear } from "./beats.ts";
import { Life } from "./life.ts";
import type { Link } from "./link.ts";
import type { Client, Payload } from "./sdk.ts";

const TOKEN = new Uint8Array([1]);
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A process whose heartbeats arrive when the test says so. */
function stage() {
  const shown: { readonly runs: unknown; readonly number: number }[] = [];
  let hear: Hear = () => undefined;
  const beats = {
    begin: (_: Uint8Array, heard?: Hear) => {
      if (heard) hear = heard;
    },
    show: (_: Uint8Array, { data }: Payload, number: number) =>
      void shown.push({ runs: JSON.parse(String(data)), number }),
    quiet: () => undefined,
  } as unknown as BeatThread;
  const asked: string[] = [];
  const toPayload = (value: unknown) => ({ data: JSON.stringify(value) as unknown as Uint8Array });
  const client = {
    workflow: {
      start: async (type: string) => void asked.push(type),
      getHandle: (run: string) => ({
        signal: async (name: string, loss: object) =>
          void asked.push(`${name} ${run} ${JSON.stringify(loss)}`),
      }),
    },
    workflowService: { resetStickyTaskQueue: async () => undefined },
    options: { loadedDataConverter: { payloadConverter: { toPayload }, payloadCodecs: [] } },
  } as unknown as Client;
  const link = {
    namespace: "default",
    taskQueue: "q",
    raw: async () => ({ client }),
    ask: async <T>(_run: string, work: (client: Client) => Promise<T>) => work(client),
    complete: async () => true,
  } as unknown as Link;
  const life = new Life({ link, beats, queue: "q:me", heartbeatMs: 1_000, logger: silentLogger });
  return { life, shown, asked, hear: (what: number | "gone") => hear(what) };
}

describe("the life of a worker process on Temporal", () => {
  it("S1-64: lets a claim be sent only when a heartbeat has named its run", async () => {
    const { life, shown, hear } = stage();
    life.live("life.1", TOKEN);
    const sent = vi.fn();
    const joined = life.join("a").then(sent);
    await vi.waitFor(() => expect(shown.at(-1)).toMatchObject({ runs: ["a"] }));
    expect(sent).not.toHaveBeenCalled();
    hear(shown.at(-1)?.number ?? 0);
    await joined;
    expect(sent).toHaveBeenCalledWith("life.1");
    expect(await life.join("a")).toBe("life.1");
  });

  it("S1-64: names every run that it has with each heartbeat, and none that has left", async () => {
    const { life, shown, hear } = stage();
    life.live("life.1", TOKEN);
    const all = ["a", "b", "c"].map((run) => life.join(run));
    await vi.waitFor(() => expect(shown.at(-1)).toMatchObject({ runs: ["a", "b", "c"] }));
    hear(shown.at(-1)?.number ?? 0);
    await Promise.all(all);
    life.leave("b");
    void life.join("d");
    await vi.waitFor(() => expect(shown.at(-1)).toMatchObject({ runs: ["a", "c", "d"] }));
  });

  it("S1-64: begins another life when Temporal has declared its own over, and claims only in that one", async () => {
    const { life, shown, asked, hear } = stage();
    life.live("life.1", TOKEN);
    const first = life.join("a");
    await vi.waitFor(() => expect(shown).not.toHaveLength(0));
    hear(shown.at(-1)?.number ?? 0);
    await first;
    hear("gone");
    await vi.waitFor(() => expect(asked).toContain("holdfastWorker"));
    const before = shown.length;
    const second = life.join("a");
    await turn();
    expect(shown).toHaveLength(before);
    life.live("life.2", new Uint8Array([2]));
    await vi.waitFor(() => expect(shown.length).toBeGreaterThan(before));
    hear(shown.at(-1)?.number ?? 0);
    expect(await second).toBe("life.2");
  });

  it("S1-64: tells a run that its claim has been given up", async () => {
    const { life, asked } = stage();
    life.giveUp("a", "token");
    await life.stop();
    expect(asked).toEqual(['lost a {"token":"token"}']);
  });
});
