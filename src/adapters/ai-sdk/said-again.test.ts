import { describe, expect, it } from "vitest";
import { SaidAgain, type UIChunk } from "./said-again.ts";

const start = (id: string): UIChunk => ({ type: "text-start", id });
const end = (id: string): UIChunk => ({ type: "text-end", id });
const said = (id: string, ...words: readonly string[]): UIChunk[] =>
  words.map((delta) => ({ type: "text-delta", id, delta }));

function written(earlier: readonly UIChunk[], now: readonly UIChunk[]): UIChunk[] {
  const again = new SaidAgain(earlier);
  return [...now.flatMap((chunk) => again.take(chunk)), ...again.rest()];
}

const FIRST = [start("m"), ...said("m", "to ", "be ", "or"), end("m")];

describe("a message that is made again", () => {
  it("is cut as it was cut before, in larger pieces as in smaller ones", () => {
    for (const pieces of [["to be or"], ["t", "o b", "e o", "r"], ["to ", "be or"], ["to ", "be ", "or"]])
      expect(written(FIRST, [start("0"), ...said("0", ...pieces), end("0")])).toEqual(FIRST);
  });

  it("goes on with the rest of a piece where the first time was cut off", () => {
    const half = FIRST.slice(0, 2);
    expect(written(half, [start("0"), ...said("0", "to be or"), end("0")])).toEqual([
      start("m"),
      ...said("m", "to ", "be or"),
      end("m"),
    ]);
  });

  it("says everything that differs, and loses nothing that was held back", () => {
    expect(written(FIRST, [start("0"), ...said("0", "to b", "uy"), end("0")])).toEqual([
      start("m"),
      ...said("m", "to ", "buy"),
      end("m"),
    ]);
    expect(written(FIRST, [start("0"), ...said("0", "to b"), end("0")])).toEqual([
      start("m"),
      ...said("m", "to ", "b"),
      end("m"),
    ]);
    expect(written(FIRST, [start("0"), ...said("0", "to b")])).toEqual([
      start("m"),
      ...said("m", "to ", "b"),
    ]);
    expect(written(FIRST, [{ type: "finish" }, ...FIRST])).toEqual([{ type: "finish" }, ...FIRST]);
  });

  it("keeps the message's id, and pieces without text that carry metadata", () => {
    const signed = { ...said("m", "")[0], providerMetadata: { signature: "s" } } as UIChunk;
    const first = [{ type: "start", messageId: "a" }, ...FIRST.slice(0, -1), signed, end("m")];
    const now = [{ type: "start", messageId: "b" }, start("0"), ...said("0", "to be or"), end("0")];
    expect(written(first, now)).toEqual(first);
  });

  it("keeps the pieces of a tool's input before its call, of this call only", () => {
    const call = (toolCallId: string): UIChunk => ({ type: "tool-input-available", toolCallId });
    const piece = (toolCallId: string): UIChunk => ({ type: "tool-input-delta", toolCallId });
    expect(written([piece("1"), piece("1"), call("1")], [call("1")])).toEqual([
      piece("1"),
      piece("1"),
      call("1"),
    ]);
    expect(written([piece("1"), call("1")], [call("2")])).toEqual([call("2")]);
  });
});
