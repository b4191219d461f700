import { badOption, checkKeys, checkNumber, checkText, isRecord } from "../check-options.ts";
import type { Clock } from "../clock.ts";
import { HoldfastError } from "../errors.ts";
import { type Act, checkAct } from "../journal/act.ts";
import { checkNamed } from "../names.ts";
import { type DatedPrice, LIST_PRICES, listPrice, type ModelPrice } from "../prices.ts";
import type { FlowDeps } from "./flow-deps.ts";
import { Kept } from "./kept.ts";

/** A price to set. */
export interface PriceChange extends ModelPrice {
  /** Where it was read: the address of a price list, a contract. */
  readonly source: string;
  /** From when it holds, in milliseconds since 1970. Default: now. */
  readonly from?: number;
}

/** A price of the store, or one of the built-in list. */
export interface PriceView extends DatedPrice {
  readonly model: string;
  /** Who set it; `null` in the built-in list. */
  readonly set: { readonly by: string | null; readonly at: number } | null;
  /** True for the price of calls that are made now. */
  readonly isCurrent: boolean;
}

interface SetPrice extends DatedPrice {
  readonly by: string | null;
  readonly at: number;
}

interface PriceRecord {
  /** In the order of their dates. */
  readonly prices: readonly SetPrice[];
}

const isRecordOfPrices = (value: unknown): value is PriceRecord =>
  isRecord(value) &&
  Array.isArray(value["prices"]) &&
  value["prices"].every((one) => isRecord(one) && typeof one["input"] === "number");

/** How long a price that another process has set may be unknown here. */
const KNOWN_MS = 30_000;
const MOST_NAME = 200;
/** The most prices of one model; the oldest go. */
const MOST_DATED = 50;

type Known = ReadonlyMap<string, readonly SetPrice[]>;

/**
 * What models cost: prices in the store, each with its date, its source and who set it, before the built-in list
 * prices. Calls are priced when they are made, so a new price changes nothing that was recorded. Prices that an agent
 * or a workflow file gives itself take precedence.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * const engine = createEngine({ store: createMemoryStore() });
 * await engine.prices.set("llama-local", { input: 0, output: 0, source: "our own machine" }, { actor: "ada" });
 * for (const { model, input, output, source } of await engine.prices.list())
 *   console.log(model, input, output, source);
 * ```
 */
export class Prices {
  readonly #deps: Pick<FlowDeps, "hasDocuments" | "now" | "timeNow" | "checkReason">;
  readonly #clock: Clock;
  readonly #kept: Kept<PriceRecord>;
  #known: { readonly prices: Known; readonly at: number } | undefined;

  constructor(deps: FlowDeps) {
    this.#deps = deps;
    this.#clock = deps.clock;
    const { documents, newVersion } = deps;
    this.#kept = new Kept({ documents, newVersion, kind: "price", isValid: isRecordOfPrices });
  }

  /** All prices by model, the newest first, and the list prices of models that have none in the store. */
  async list(): Promise<readonly PriceView[]> {
    const now = await this.#deps.now();
    const known = this.#deps.hasDocuments ? await this.#read() : new Map<string, readonly SetPrice[]>();
    const models = [...new Set([...known.keys(), ...Object.keys(LIST_PRICES)])].sort();
    return models.flatMap((model) => {
      const set = known.get(model) ?? [];
      const current = inForce(set, now);
      const views = set.toReversed().map(({ by, at, ...price }) => ({
        model,
        ...price,
        set: { by, at },
        isCurrent: price.from === current?.from,
      }));
      const builtIn = listPrice([model]);
      return builtIn ? [...views, { model, ...builtIn, set: null, isCurrent: !current }] : views;
    });
  }

  /** Sets what a model costs from a date on. A price of the same date is replaced. */
  async set(model: string, price: PriceChange, act: Act = {}): Promise<readonly PriceView[]> {
    checkNamed("model", model, MOST_NAME);
    checkKeys(price, ["input", "output", "source", "from"]);
    for (const side of ["input", "output"] as const) checkNumber(side, price[side], { least: 0 });
    checkText("source", price.source, 1, 500);
    this.#check(act);
    const at = await this.#deps.now();
    const from = price.from ?? at;
    if (!Number.isSafeInteger(from) || from < 0)
      throw badOption("from", "it must be milliseconds since 1970");
    const { input, output, source } = price;
    const added: SetPrice = { input, output, source, from, by: act.actor ?? null, at };
    await this.#kept.change(model, (current) => ({
      prices: [...(current?.prices ?? []).filter((one) => one.from !== from), added]
        .sort((a, b) => a.from - b.from)
        .slice(-MOST_DATED),
    }));
    this.#known = undefined;
    return (await this.list()).filter((one) => one.model === model);
  }

  /** Deletes what was set for a model (HF-6015 if nothing was): its list price holds again, if it has one. */
  async delete(model: string, act: Act = {}): Promise<void> {
    checkNamed("model", model, MOST_NAME);
    this.#check(act);
    if (!(await this.#kept.read(model))) throw new HoldfastError("HF-6015", { what: "price", name: model });
    await this.#kept.change(model, () => null);
    this.#known = undefined;
  }

  /** @internal */
  async priceOf(models: readonly string[]): Promise<ModelPrice | undefined> {
    const known = await this.#recent();
    const now = this.#deps.timeNow();
    for (const model of models) {
      const price = inForce(known.get(model) ?? [], now) ?? listPrice([model]);
      if (price) return price;
    }
    return undefined;
  }

  /** A store that is away has the prices that it had. */
  async #recent(): Promise<Known> {
    if (!this.#deps.hasDocuments) return new Map();
    const at = this.#clock.monotonic();
    if (this.#known && at - this.#known.at < KNOWN_MS) return this.#known.prices;
    const prices = await this.#read().catch(
      () => this.#known?.prices ?? new Map<string, readonly SetPrice[]>(),
    );
    this.#known = { prices, at };
    return prices;
  }

  async #read(): Promise<Known> {
    return new Map((await this.#kept.all()).map(({ key, value }) => [key, value.prices]));
  }

  #check(act: Act): void {
    checkAct(act);
    this.#deps.checkReason(act);
  }
}

/** The newest of the prices that holds at this time. */
const inForce = (prices: readonly SetPrice[], at: number): SetPrice | undefined =>
  prices.findLast(({ from }) => from <= at);
