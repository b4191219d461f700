import type { z } from "zod";
import type { Frozen } from "./declare.ts";
import type { Operations } from "./operations.ts";
import type { OperationId, PATHS, ParamsOf } from "./paths.ts";

type Given<S> = S extends z.ZodType ? z.input<S> : Record<never, never>;
type PathArgs<Id extends OperationId> = { readonly [K in ParamsOf<(typeof PATHS)[Id]>]: string };

/** Everything an operation takes, in one object: parameters of its path, its query and its body. */
export type ArgsOf<Id extends OperationId> = Frozen<
  PathArgs<Id> & Given<Operations[Id]["query"]> & Given<Operations[Id]["body"]>
>;

export type AnswerOf<Id extends OperationId> = Frozen<z.output<Operations[Id]["answer"]>>;
