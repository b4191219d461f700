import { AsyncLocalStorage } from "node:async_hooks";
import { fingerprint } from "../../core/hash.ts";
import type { CallPlace } from "../witness/log.ts";
import { WitnessConnection } from "../witness/wire.ts";

/** The witness's port and log: `4100 /path/of/the/log`. Set for processes under crash-test. */
export const WITNESS_ENV = "HOLDFAST_WITNESS";

/** State shared by the code under test and the harness, even if each has loaded its own copy of the package. */
export interface Stage {
  /** The current call. */
  readonly places: AsyncLocalStorage<Standing>;
  readonly line: WitnessLine;
  /** Called with every effect that the witness has acknowledged. */
  effected: (kind: string, id: string) => void;
}

/** A place in the code; for a workflow's function, with the steps that it has begun itself (`ctx.beginStep`). */
export interface Standing {
  readonly place: CallPlace;
  readonly open?: readonly CallPlace[];
}

/** The current call; undefined in a process without a run. */
export const placeNow = ({ places }: Stage): CallPlace | undefined => {
  const standing = places.getStore();
  return standing?.open?.at(-1) ?? standing?.place;
};

const STAGE = Symbol.for("holdfast.crash-test.stage");
const shared = globalThis as { [STAGE]?: Stage };

/** Sends notes to the witness. No connection stays open between two notes, so it doesn't keep the process alive. */
export class WitnessLine {
  readonly #port: number;
  readonly #log: string;

  constructor(address: string) {
    const space = address.indexOf(" ");
    this.#port = Number(address.slice(0, space));
    this.#log = address.slice(space + 1);
  }

  /** Resolves when the note is on disk. */
  async tell(note: object): Promise<void> {
    const connection = new WitnessConnection(this.#port);
    try {
      await connection.ask({ log: this.#log, do: "note", note: { ...note, pid: process.pid } });
    } finally {
      connection.close();
    }
  }
}

/** Created by the first caller: the harness, or the code in its own process. */
export function stage(address: string): Stage {
  shared[STAGE] ??= {
    places: new AsyncLocalStorage(),
    line: new WitnessLine(address),
    effected: () => undefined,
  };
  return shared[STAGE];
}

/**
 * The only fact that a program started by a step knows about it: its key, which script steps put into the environment.
 */
function startedBy(): Pick<CallPlace, "key"> | undefined {
  const { HOLDFAST_IDEMPOTENCY_KEY: key } = process.env;
  return key === undefined || key === "" ? undefined : { key: fingerprint(key) };
}

/**
 * Reports an effect in the outside world: one payment, one mail. Under `holdfast crash-test` a separate process records
 * and counts it before this resolves. Everywhere else it does nothing and costs nothing, so it can stay in the code.
 *
 * `id` identifies the effect by something that stays the same when it is repeated: an invoice number, not a random
 * value.
 *
 * @example
 * ```ts
 * import { workflow } from "holdfast";
 * import { witness } from "holdfast/testing";
 *
 * declare function transfer(invoice: string, key: string): Promise<string>;
 *
 * export const pay = workflow("pay", (ctx, invoice: string) =>
 *   ctx.step(
 *     "transfer",
 *     async ({ key }) => {
 *       const receipt = await transfer(invoice, key);
 *       await witness("payment", invoice);
 *       return receipt;
 *     },
 *     { effect: "keyed", input: invoice },
 *   ),
 * );
 * ```
 */
export async function witness(kind: string, id: string | number): Promise<void> {
  const address = process.env[WITNESS_ENV];
  if (address === undefined || address === "") return;
  const set = stage(address);
  await set.line.tell({ ...(placeNow(set) ?? startedBy()), type: "effect", kind, id: String(id) });
  set.effected(kind, String(id));
}
