import { describe, expect, it } from "vitest";
import { cardsOf, type Need } from "./groups.ts";

const need = (id: string, errorGroup: string | null = null): Need => ({ run: { id }, errorGroup }) as Need;
const shape = (needs: readonly Need[]): string[] =>
  cardsOf(needs).map(({ needs: some }) => some.map(({ run }) => run.id).join("+"));

describe("the cards of what needs you", () => {
  it("put runs that failed alike onto one card, at the place of the first (S1-32)", () => {
    const needs = [
      need("gate"),
      need("a", "x"),
      need("b", "y"),
      need("c", "x"),
      need("d", "x"),
      need("e", "y"),
    ];
    expect(shape(needs)).toEqual(["gate", "a+c+d", "b", "e"]);
  });

  it("keep runs apart that wait for different things", () => {
    expect(shape([need("a"), need("b"), need("c")])).toEqual(["a", "b", "c"]);
  });
});
