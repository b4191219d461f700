import { describe, expect, it } from "vitest";
import { readAnswer } from "./json-answer.ts";

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

describe("an answer in JSON", () => {
  it.each([
    ['{"n": 1}'],
    [' \n {"n": 1} '],
    ['```json\n{"n": 1}\n```'],
    ['```\n{"n": 1}```'],
    ['Here you are:\n```json\n{"n": 1}\n```\nAnything else?'],
    ['The answer is {"n": 1}, I think.'],
    ['Of {these} and [those] the answer is {"n": 1}.'],
    ['First {"m": "a } in a text"}, then {"n": 1}.'],
    ['Not {"n": "one"} but {"n": 1}'],
    ['A brace { that is never closed, then {"n": 1}'],
  ])("is found in %j", (text) => {
    expect(readAnswer(text, schema)).toEqual({ ok: true, value: { n: 1 } });
  });

  it.each([
    ["", ["it is empty"]],
    ["I cannot.", ["it is not JSON"]],
    ['{"n": 1', ["it is not JSON"]],
    ['{"n": "one"}', ["n must be integer, not string"]],
    ['```json\n{"m": 1}\n```', ["n is missing"]],
    ["[1, 2]", ["it must be object, not array"]],
  ])("is missing in %j", (text, problems) => {
    expect(readAnswer(text, schema)).toEqual({ ok: false, problems });
  });
});
