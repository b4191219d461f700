import type * as langGraph from "@langchain/langgraph-checkpoint";
import { loadPackage } from "../load-package.ts";

type Package = typeof langGraph;

let loading: Promise<Package> | undefined;

/** LangGraph's own package, loaded when it is first needed. */
export function checkpointPackage(): Promise<Package> {
  loading ??= loadPackage(
    "@langchain/langgraph-checkpoint",
    "The LangGraph checkpointer",
    () => import("@langchain/langgraph-checkpoint"),
  );
  loading.catch(() => (loading = undefined));
  return loading;
}
