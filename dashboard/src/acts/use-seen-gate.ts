import { useState } from "react";
import { ApiError } from "../api/client.ts";
import { useApi } from "../api/use-api.ts";
import type { OpenGate } from "./gate-form.tsx";

export interface SeenGate {
  /** What the person has seen, which stays as it is: the answer is bound to it. */
  readonly seen: OpenGate | null;
  /** Something else is shown by now. */
  readonly isOther: boolean;
  /** It was answered, has expired, or the run has ended. */
  readonly isClosed: boolean;
  readonly error: unknown;
  /** Shows what is shown now. */
  readonly look: () => void;
}

/** An open gate with what it shows, as the person who answers has first seen it. */
export function useSeenGate(run: string, gate: string, enabled = true): SeenGate {
  const query = useApi("getGate", { run, gate }, { enabled });
  const [first, setFirst] = useState<OpenGate | null>(null);
  const now =
    query.data?.runId === run && query.data.gate === gate && !query.isPlaceholderData ? query.data : null;
  const isOf = first?.runId === run && first.gate === gate;
  if (now && !isOf) setFirst(now);
  const seen = isOf ? first : now;
  return {
    seen,
    isOther: seen !== null && now !== null && seen.digest !== now.digest,
    isClosed: query.error instanceof ApiError && query.error.status === 404,
    error: query.error,
    look: () => void query.refetch().then(({ data }) => data && setFirst(data)),
  };
}
