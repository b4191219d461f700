import { describe, expect, it } from "vitest";
import { checkJson } from "./check-json.ts";

describe("checked JSON", () => {
  it("tells the line and column where it goes wrong", () => {
    expect(checkJson('{\n  "a": 1,\n  "b": ?\n}')).toMatchObject({ isValid: false, line: 3, column: 8 });
    expect(checkJson('{\n  "a": [1, 2\n')).toMatchObject({ isValid: false, line: 3, column: 1 });
    expect(checkJson('{"a": 1,}')).toMatchObject({
      line: 1,
      column: 9,
      message: expect.stringContaining("name"),
    });
    expect(checkJson('{"a" 1}')).toMatchObject({ column: 6, message: expect.stringContaining("colon") });
    expect(checkJson("[1 2]")).toMatchObject({ column: 4, message: expect.stringContaining("comma") });
    expect(checkJson("{} x")).toMatchObject({ column: 4, message: expect.stringContaining("nothing more") });
    expect(checkJson('["a\tb"]')).toMatchObject({ column: 2 });
  });

  it("gives the value of what is right", () => {
    expect(checkJson(' {"a": null} ')).toEqual({ isValid: true, value: { a: null } });
  });
});
