import { AsyncLocalStorage } from "node:async_hooks";
import { fingerprint } from "../../core/hash.ts";
import { WitnessConnection } from "../witness/wire.ts";
import type { CallPlace } from "./notes.ts";

/** Where the witness listens and which of its logs is meant: `4100 /path/of/the/log`. Set for processes under crash-test. */
export const WITNESS_ENV = "HOLDFAST_WITNESS";

/** What the code under test and the harness around it have in common, whichever copy of the package each has loaded. */
export interface Stage {
  /** The call that code is in. */
  readonly places: AsyncLocalStorage<Standing>;
  readonly line: WitnessLine;
  /** Told of every effect that the witness has acknowledged. */
  effected: (kind: string, id: string) => void;
}

/** A place in the code; in a workflow's function, with the steps that it has begun by itself (`ctx.beginStep`). */
export interface Standing {
  readonly place: CallPlace;
  readonly open?: readonly CallPlace[];
}

/** The call that something happens in; undefined in a process that no run is known of. */
export const placeNow = ({ places }: Stage): CallPlace | undefined => {
  const standing = places.getStore();
  return standing?.open?.at(-1) ?? standing?.place;
};

const STAGE = Symbol.for("holdfast.crash-test.stage");
const shared = globalThis as { [STAGE]?: Stage };

/** The way to the witness. Nothing stays open between two notes, so it keeps no process alive. */
export class WitnessLine {
  readonly #port: number;
  readonly #log: string;

  constructor(address: string) {
    const space = address.indexOf(" ");
    this.#port = Number(address.slice(0, space));
    this.#log = address.slice(space + 1);
  }

  /** Answers when it is on the disk. */
  async tell(note: object): Promise<void> {
    const connection = new WitnessConnection(this.#port);
    try {
      await connection.ask({ log: this.#log, do: "note", note: { ...note, pid: process.pid } });
    } finally {
      connection.close();
    }
  }
}

/** Made by whoever comes first: the harness, or the code in a process of its own. */
export function stage(address: string): Stage {
  shared[STAGE] ??= {
    places: new AsyncLocalStorage(),
    line: new WitnessLine(address),
    effected: () => undefined,
  };
  return shared[STAGE];
}

/** What a program that a step has started knows of that step: its key, which script steps put into the environment. */
function startedBy(): Pick<CallPlace, "key"> | undefined {
  const { HOLDFAST_IDEMPOTENCY_KEY: key } = process.env;
  return key === undefined || key === "" ? undefined : { key: fingerprint(key) };
}

/**
 * Says that something was done in the outside world: one payment, one mail. Under `holdfast crash-test` a process of its own writes it
 * down and counts it, before this answers. Everywhere else it does nothing and costs nothing, so it can stay in the code.
 *
 * `id` names what was done, by something that is the same when it is done again: an invoice number, not a random value.
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
