import type { z } from "zod";
import type { Clock } from "../core/clock.ts";
import type { Engine } from "../core/engine/engine.ts";
import type { NamedAct } from "../core/journal/act.ts";
import type { Logger } from "../core/logger.ts";
import type { SignNote } from "../core/manage/evidence/bundle.ts";
import type { Store } from "../core/store/contract.ts";
import type { Metrics } from "../observe/metrics/metrics.ts";
import type { Principal } from "./access/permission.ts";
import type { Frozen } from "./contract/declare.ts";
import type { Operations } from "./contract/operations.ts";
import type { OperationId, PATHS, ParamsOf } from "./contract/paths.ts";
import type { Hub } from "./events/hub.ts";

/** What the handlers of all operations use. */
export interface Tools {
  readonly engine: Engine;
  readonly store: Store;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The path under which the API is mounted. */
  readonly base: string;
  /** The store's time, as of less than a second ago and moved on since: for what is shown. */
  readonly now: () => Promise<number>;
  /** What is counted in this process. */
  readonly metrics: Metrics;
  /** What streams are fed from. */
  readonly hub: Hub;
  /** How long a reader that polls a stream waits; `undefined`: as usual. */
  readonly longPollMs?: number | undefined;
  /** Signs what is handed to auditors; `undefined` without an audit key. */
  readonly sign?: SignNote | undefined;
}

type Read<S> = S extends z.ZodType ? z.output<S> : undefined;

/** One call of an operation: checked, and made by somebody who may. */
export interface Call<Id extends OperationId> extends Tools {
  readonly params: Readonly<Record<ParamsOf<(typeof PATHS)[Id]>, string>>;
  readonly query: Read<Operations[Id]["query"]>;
  readonly body: Read<Operations[Id]["body"]>;
  readonly principal: Principal;
  readonly request: Request;
  /** Headers of the answer. */
  readonly headers: Headers;
  /** Who acts, why, under which name, and at which position the caller has seen the run. */
  readonly act: NamedAct & { readonly actor: string };
}

/** Answers a call with data of the operation's shape, or with a response of its own where that isn't JSON. */
export type Handler<Id extends OperationId> = (
  call: Call<Id>,
) => Promise<Frozen<z.input<Operations[Id]["answer"]>> | Response>;

export type Handlers<Ids extends OperationId = OperationId> = { readonly [Id in Ids]: Handler<Id> };
