import { useApi } from "../api/use-api.ts";

/** The workflows that this server has code for, or a worker that is running. */
export function useWorkflowNames(): readonly string[] {
  const here = useApi("listWorkflows", {}).data?.workflows ?? [];
  const elsewhere = useApi("listWorkers", {}).data?.workers.flatMap(({ workflows }) => workflows) ?? [];
  return [...new Set([...here, ...elsewhere].map(({ name }) => name))].toSorted();
}
