import type { BaseContext, ReceivedSignal, SignalOptions } from "./context.ts";
import type { InputOf, OutputOf, Schemas, StandardSchema } from "./standard-schema.ts";

/** The types of what a workflow declares with schemas: its input, its result, its signals and its memory. */
/** The signals and the memory that a workflow declares; see {@link TypedContext}. */
export interface DeclaredOptions<
  S extends Schemas = Schemas,
  M extends Schemas = Schemas,
  R extends StandardSchema = StandardSchema,
> {
  /**
   * The signals that its runs take, with a schema for each. A message of another name is refused (HF-1043), and so is
   * one that doesn't match (HF-1042).
   */
  readonly signals?: S;
  /** The keys of its memory, with a schema for each, which must be synchronous. */
  readonly memory?: M;
  /** The schema of its result. A result that doesn't match fails the run (HF-1042). */
  readonly output?: R;
}

/** `ctx` of a workflow that declares its signals and its memory. */
export interface TypedContext<S extends Schemas = Schemas, M extends Schemas = Schemas> extends BaseContext {
  readonly memory: TypedMemory<M>;
  // Makes it fit where a plain Context is asked for; there is no value to call it with.
  signal(name: never): Promise<ReceivedSignal<never>>;
  /** Waits for the first of the named signals; one that arrived before the wait counts. */
  signal<K extends NameIn<S>, R extends NameIn<S> = never>(
    name: K,
    options?: SignalOptions & { readonly or?: readonly R[] },
  ): Promise<SignalIn<S, K | R>>;
  inbox(name: never): Promise<ReceivedSignal<never>[]>;
  /** The context that people have injected and nobody has read, without waiting. */
  inbox(): Promise<ReceivedSignal[]>;
  /** The unread messages in the mailbox under a name, without waiting. */
  inbox<K extends NameIn<S>>(name: K): Promise<SignalIn<S, K>[]>;
}

/** The run's working memory, with the types that its workflow declares. */
export interface TypedMemory<M extends Schemas> {
  get(key: never): undefined;
  get<K extends NameIn<M>>(key: K): OutputOf<M[K]> | undefined;
  set<K extends NameIn<M>>(key: K, value: InputOf<M[K]>): void;
  delete(key: NameIn<M>): void;
  keys(): NameIn<M>[];
}

type NameIn<S> = keyof S & string;
type SignalIn<S extends Schemas, K extends NameIn<S>> = {
  [N in K]: ReceivedSignal<OutputOf<S[N]>, N>;
}[K];

export interface InputOptions<S extends StandardSchema = StandardSchema> {
  /**
   * The schema of accepted inputs, of any library that follows Standard Schema. Inputs are checked when a run is
   * started (HF-1042); the run gets what the schema makes of them.
   */
  readonly input: S;
}

/** The function of a workflow that declares its signals or its memory. */
export type TypedBody<I, O, S extends Schemas, M extends Schemas> = (
  ctx: TypedContext<S, M>,
  input: I,
) => O | Promise<O>;

/** A workflow that leaves its signals, its memory and its result open. */
export interface Undeclared {
  readonly signals?: never;
  readonly memory?: never;
  readonly output?: never;
}

/** What a run results in: what the schema makes of it, or what the function returns. */
export type ResultOf<R extends StandardSchema, O> = StandardSchema extends R ? O : OutputOf<R>;
