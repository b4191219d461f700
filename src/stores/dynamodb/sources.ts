import { defined } from "../../core/defined.ts";
import { Expression } from "./expression.ts";
import type { Item, Service } from "./service.ts";

/** One partition of an index, or of the table itself, sorted by an attribute. */
export interface Source {
  /** Omitted for the table itself, which is read consistently. */
  readonly index?: string;
  readonly partition: readonly [attribute: string, value: string];
  readonly order: string;
  readonly between: readonly [string, string];
  readonly newestFirst: boolean;
  /** The last item of the page before, which is skipped. */
  readonly except?: string;
  /** Keeps only items whose attribute has one of these values, or is at most this number. */
  readonly oneOf?: readonly [attribute: string, values: readonly string[]];
  readonly atMost?: readonly [attribute: string, value: number];
}

/** The part of a run that a source holds. */
export interface Found {
  readonly pk: string;
  readonly at: string;
  /** Set when the partition belongs to the parent. */
  readonly child: string | undefined;
}

const AT_LEAST = 25;
const AT_MOST = 1_000;

/** The runs of all sources in order, read page by page on demand. */
export async function* merged(
  service: Service,
  sources: readonly Source[],
  wanted: number,
): AsyncGenerator<Found> {
  const pages = Math.min(AT_MOST, Math.max(AT_LEAST, wanted));
  const streams = sources.map((source) => new Stream(service, source, pages));
  await Promise.all(streams.map((stream) => stream.fill()));
  for (;;) {
    const first = streams.reduce<Stream | null>(
      (best, stream) => (stream.isBefore(best) ? stream : best),
      null,
    );
    const head = first?.take();
    if (!first || !head) return;
    yield head;
    await first.fill();
  }
}

class Stream {
  readonly #service: Service;
  readonly #source: Source;
  readonly #page: number;
  #found: Found[] = [];
  #from: Item | undefined;
  #isDone = false;

  constructor(service: Service, source: Source, page: number) {
    this.#service = service;
    this.#source = source;
    this.#page = page;
  }

  /** Loads the next item, unless the source is exhausted. */
  async fill(): Promise<void> {
    while (this.#found.length === 0 && !this.#isDone) {
      const { Items = [], LastEvaluatedKey } = await this.#service.query(this.#query());
      this.#found = Items.map((item) => this.#toFound(item)).filter(({ at }) => at !== this.#source.except);
      this.#from = LastEvaluatedKey;
      this.#isDone = LastEvaluatedKey === undefined;
    }
  }

  get head(): string | undefined {
    return this.#found[0]?.at;
  }

  isBefore(other: Stream | null): boolean {
    const [mine, theirs] = [this.head, other?.head];
    if (mine === undefined || theirs === undefined) return mine !== undefined;
    return this.#source.newestFirst ? mine > theirs : mine < theirs;
  }

  take(): Found | undefined {
    return this.#found.shift();
  }

  #toFound(item: Item): Found {
    return { pk: item["pk"]?.S ?? "", at: item[this.#source.order]?.S ?? "", child: item["child"]?.S };
  }

  #query(): Parameters<Service["query"]>[0] {
    const { index, partition, order, between, newestFirst, oneOf, atMost } = this.#source;
    const expression = new Expression();
    const [name, value] = partition;
    const key = [expression.compare(name, "=", { S: value }), expression.between(order, between)];
    const filters = [
      ...(oneOf
        ? [
            `${expression.name(oneOf[0])} IN (${oneOf[1].map((one) => expression.value({ S: one })).join(", ")})`,
          ]
        : []),
      ...(atMost ? [expression.compare(atMost[0], "<=", { N: String(atMost[1]) })] : []),
    ];
    return {
      ...(index === undefined ? { ConsistentRead: true } : { IndexName: index }),
      KeyConditionExpression: key.join(" AND "),
      ...(filters.length === 0 ? {} : { FilterExpression: filters.join(" AND ") }),
      ...expression.attributes,
      ScanIndexForward: !newestFirst,
      Limit: this.#page,
      ...defined({ ExclusiveStartKey: this.#from }),
    };
  }
}
