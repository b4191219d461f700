import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.ts";
import { decode, encode } from "./codec.ts";

const FORBIDDEN = ["__proto__", "constructor", "prototype"];

function refusal(text: string): HoldfastError {
  try {
    decode(text);
  } catch (error) {
    if (HoldfastError.is(error, "HF-3011")) return error;
    throw error;
  }
  throw new Error(`not refused: ${text.slice(0, 80)}`);
}

describe("decode", () => {
  it("refuses keys that could reach a prototype, also hidden behind escapes", () => {
    for (const name of [...FORBIDDEN, "\\u005f_proto__", "constr\\u0075ctor", "prototyp\\u0065"]) {
      for (const hostile of [
        `{"${name}":{"x":1}}`,
        `[{"a":{"${name}" :1}}]`,
        `{"$":["Object",[["${name}",1]]]}`,
      ]) {
        refusal(hostile);
      }
      refusal(`{"$":["Error","E","m",null,[["${name}",{"x":1}]]]}`);
    }
  });

  it("allows the same words as data", () => {
    const words = ["constructor", "prototype", "__proto__", "$", '"constructor":', "\\u0024"];
    expect(decode(encode(words))).toEqual(words);
  });

  it("refuses unknown and malformed tags", () => {
    const tags = [
      '["Function","x"]',
      "[]",
      "[1]",
      '"Date"',
      "{}",
      "null",
      '["Date"]',
      '["Date","0"]',
      '["Date",1.5]',
      '["Date",9e15]',
      '["BigInt","1.0"]',
      '["BigInt",""]',
      '["BigInt",1]',
      '["Number","1"]',
      '["Number",1]',
      '["Bytes","a"]',
      '["Bytes","a b="]',
      '["Bytes",1]',
      '["Set",{}]',
      '["Set"]',
      '["Map",[[1]]]',
      '["Map",[1]]',
      '["Map",null]',
      '["Object",[[1,2]]]',
      '["Blob",1]',
      '["undefined",1]',
      '["toString"]',
      '["Error","E","m",null]',
      '["Error",1,"m",null,[]]',
      '["Error","E","m",null,[["stack",1]]]',
    ];
    for (const tag of tags) {
      refusal(`{"a":{"$":${tag}}}`);
      refusal(`{"\\u0024":${tag}}`);
    }
    refusal('{"$":["undefined"],"more":1}');
    refusal('{"more":1,"$":["undefined"]}');
  });

  it("refuses what is not JSON, and puts nothing in its place", () => {
    for (const broken of ["", "{", "nul", "undefined", "[1,]", "\0", '{"a":1}x', "NaN"]) {
      expect(refusal(broken).message).toContain("not valid JSON");
    }
    refusal(undefined as unknown as string);
  });

  it("refuses tagged data that is nested too deeply, without running out of stack", () => {
    const deep = `${'{"$":["Set",['.repeat(50_000)}${"]]}".repeat(50_000)}`;
    refusal(deep);
    refusal(`[{"$":["undefined"]},${"[".repeat(50_000)}${"]".repeat(50_000)}]`);
  });
});
