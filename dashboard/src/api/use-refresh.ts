import { useQueryClient } from "@tanstack/react-query";
import type { Act } from "../acts/act.ts";
import { useAct } from "../acts/provider.tsx";

/** Opens the dialog of an act, and asks again for the answers of these operations when it is done. */
export function useActOn(
  ...operations: readonly string[]
): (act: Act, onDone?: (answer: unknown) => void) => void {
  const queries = useQueryClient();
  const open = useAct();
  return (act, onDone) =>
    open(act, (answer) => {
      refresh(queries, operations);
      onDone?.(answer);
    });
}

export function refresh(queries: ReturnType<typeof useQueryClient>, operations: readonly string[]): void {
  void queries.invalidateQueries({ predicate: ({ queryKey: [id] }) => operations.includes(String(id)) });
}
