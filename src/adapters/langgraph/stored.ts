import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { HoldfastError } from "../../core/errors.ts";
import { fromJsonText } from "../json-keys.ts";
import { brief, hasMessages, wholeJson } from "./brief-messages.ts";
import { checkpointPackage } from "./package.ts";
import { copyOf, isSame } from "./remembered.ts";

/** A value as LangGraph's serializer writes it: its type, and plain JSON or bytes. */
export type Stored = readonly [type: string, data: unknown];

/** An element of a list that was saved from here, so that it needs no second serializing while it stays the same. */
export interface Item {
  readonly value: unknown;
  readonly copy: unknown;
  readonly json: Promise<unknown>;
  /** What `json` has resolved to: waiting for each of a thousand elements again takes longer than their checkpoint. */
  done?: { readonly json: unknown };
}

/** A channel's value on its way to the journal: whole, or element by element. */
export type Prepared = { readonly whole: Promise<Stored> } | { readonly items: readonly Item[] };

/** What LangGraph's serializer writes in place of a value that it can't write. */
const REPLACED = "[unable to serialize, circular reference is too complex to analyze]";

/** Turns values into what is stored, with the serializer of LangGraph or one's own. */
export class StoredValues {
  readonly #given: SerializerProtocol | undefined;
  #own: Promise<SerializerProtocol> | undefined;

  constructor(given?: SerializerProtocol) {
    this.#given = given;
  }

  serializer(): Promise<SerializerProtocol> {
    if (this.#given) return Promise.resolve(this.#given);
    this.#own ??= checkpointPackage().then(({ MemorySaver }) => new MemorySaver().serde);
    return this.#own;
  }

  /** Serializes as soon as it is called, because the value may change later. */
  async dump(value: unknown, what: string): Promise<Stored> {
    const serializer = await this.serializer();
    try {
      const [type, bytes] = await serializer.dumpsTyped(value);
      if (type !== "json") return [type, bytes];
      const text = new TextDecoder().decode(bytes);
      const parsed: unknown = JSON.parse(text);
      if (parsed === REPLACED && value !== REPLACED) throw new TypeError("the serializer can't write it");
      // Text that JSON.stringify wouldn't write, such as a long number, is kept as it is.
      if (this.#given && JSON.stringify(parsed) !== text) return [type, bytes];
      const data = fromJsonText(text, parsed);
      return [type, hasMessages(text) ? brief(data) : data];
    } catch (error) {
      throw new HoldfastError("HF-6186", { what, problem: String(error) }, { cause: error });
    }
  }

  async load(stored: Stored): Promise<unknown> {
    const serializer = await this.serializer();
    const [type, data] = stored;
    if (data instanceof Uint8Array) return serializer.loadsTyped(type, data);
    return serializer.loadsTyped(type, wholeJson(data));
  }

  /** A value on its way in. Of a list, elements that were saved before and haven't changed aren't serialized again. */
  prepare(value: unknown, what: string, before: readonly Item[] | undefined): Prepared {
    if (this.#given || !Array.isArray(value) || !value.every(isAlone)) {
      const whole = this.dump(value, what);
      whole.catch(() => undefined);
      return { whole };
    }
    const list: readonly unknown[] = value;
    return {
      items: list.map((element, index) => {
        const known = before?.[index];
        if (known && known.value === element && isSame(known.copy, element)) return known;
        const json = this.dump(element, what).then(([, data]) => data);
        const item: Item = { value: element, copy: copyOf(element), json };
        json.then(
          (data) => void (item.done = { json: data }),
          () => undefined,
        );
        return item;
      }),
    };
  }
}

/** True when an element is written alone as it would be inside of its list. */
const isAlone = (value: unknown): boolean =>
  !(value instanceof Uint8Array) && typeof value !== "function" && typeof value !== "symbol";
