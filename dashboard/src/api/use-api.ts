import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { type AnswerOf, type ApiError, type ArgsOf, client } from "./client.ts";

/** An operation that answers once. */
type Operation = Exclude<keyof typeof client, "streamEvents">;
type Ask = (args: unknown, options: { readonly signal: AbortSignal }) => Promise<unknown>;

export interface ApiOptions {
  /** False while the page doesn't need it yet. */
  readonly enabled?: boolean;
  /** Asks again after so many milliseconds, for what no event tells. */
  readonly refetchMs?: number;
}

/**
 * The answer of an operation of the API, kept up to date by the live stream: its key is the operation and its arguments,
 * so an event of a run reaches every page that shows the run.
 */
export function useApi<Id extends Operation>(
  id: Id,
  args: ArgsOf<Id>,
  { enabled = true, refetchMs }: ApiOptions = {},
): UseQueryResult<AnswerOf<Id>, ApiError> {
  const ask = (client as unknown as Readonly<Record<Operation, Ask>>)[id];
  return useQuery<unknown, ApiError>({
    queryKey: [id, args as unknown],
    queryFn: ({ signal }) => ask(args, { signal }),
    enabled,
    placeholderData: keepPreviousData,
    ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs }),
  }) as UseQueryResult<AnswerOf<Id>, ApiError>;
}
