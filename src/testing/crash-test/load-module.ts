import { pathToFileURL } from "node:url";
import type { Workflow } from "../../core/context.ts";
import { HoldfastError } from "../../core/errors.ts";
import { isWorkflow } from "../../core/workflow.ts";

/** The result of a loader. */
export interface Loaded {
  readonly workflow: Workflow<unknown, unknown>;
  /** The workflows that it may start as separate runs, which the recovering process must know. */
  readonly all?: readonly Workflow<unknown, unknown>[];
  /** The input to use when none is given. */
  readonly input?: unknown;
}

/** The workflow that a module exports: by the given name, its default, or the only one. */
export async function load(file: string, exported?: string): Promise<Loaded> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new HoldfastError("HF-4400", { file, problem: problemOf(error) }, { cause: error });
  }
  const found = Object.entries(module).filter(([, value]) => isWorkflow(value));
  const names = found.map(([name]) => name);
  const only = found.length === 1 ? names[0] : "default";
  const workflow = module[exported ?? (names.includes("default") ? "default" : (only ?? ""))];
  if (isWorkflow(workflow)) return { workflow, all: Object.values(module).filter(isWorkflow) };
  const has = names.length === 0 ? "no workflow" : names.join(", ");
  throw new HoldfastError("HF-4401", { file, wanted: exported ?? "one workflow", has });
}

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const place = /\n\s+at .*?\(?(file:[^\s)]+|\/[^\s)]+:\d+:\d+)\)?/.exec(error.stack ?? "")?.[1];
  return `${error.message}${place === undefined ? "" : ` (${place})`}`;
}
