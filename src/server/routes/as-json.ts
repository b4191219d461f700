import { encode } from "../../core/values/codec.ts";

/** The same as JSON: what JSON can't express uses the journal's encoding, such as `{"$":["Date",0]}`. */
export const asJson = <T>(value: T): T => JSON.parse(encode(value)) as T;
