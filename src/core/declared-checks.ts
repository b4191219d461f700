import type { Workflow } from "./context.ts";
import { HoldfastError } from "./errors.ts";
import { isInjected, isLibraryKey } from "./names.ts";
import { conform, conformNow, type StandardSchema } from "./standard-schema.ts";
import type { Edits } from "./types.ts";

/** The border of a workflow that declares its signals, its memory and its input: what enters its runs is checked here. */
type Declaring = Pick<Workflow, "name" | "input" | "signals" | "memory">;

/** Refuses a signal that the workflow doesn't declare (HF-1043). */
export function checkDeclared({ name: workflow, signals }: Declaring, name: string): void {
  if (!signals || isInjected(name) || Object.hasOwn(signals, name)) return;
  const known = Object.keys(signals).join(", ") || "none";
  throw new HoldfastError("HF-1043", { workflow, signal: name, known });
}

/** Refuses a message that the workflow's runs wouldn't take. */
export async function checkMessage(
  workflow: Declaring | undefined,
  name: string,
  payload: unknown,
): Promise<void> {
  if (!workflow) return;
  checkDeclared(workflow, name);
  const schema = isInjected(name) ? undefined : workflow.signals?.[name];
  if (schema) await conform(schema, payload, `Signal ${name} of ${workflow.name}`);
}

/** The schema of a memory key; throws HF-1044 when the workflow declares others. */
function schemaOfKey({ name: workflow, memory }: Declaring, key: string): StandardSchema | undefined {
  if (!memory || isLibraryKey(key)) return undefined;
  if (Object.hasOwn(memory, key)) return memory[key];
  const known = Object.keys(memory).join(", ") || "none";
  throw new HoldfastError("HF-1044", { workflow, key, known });
}

export const checkMemoryDeclared = (workflow: Declaring, key: string): void =>
  void schemaOfKey(workflow, key);

/** What the schema makes of a value for memory. */
export function fitMemory(workflow: Declaring, key: string, value: unknown): unknown {
  const schema = schemaOfKey(workflow, key);
  return schema ? conformNow(schema, value, memoryOf(workflow, key)) : value;
}

const memoryOf = ({ name }: Declaring, key: string): string => `Memory ${key} of ${name}`;

/** The edits with what the schemas make of them: an edit is checked like the value it replaces. */
export async function fitEdits(workflow: Declaring | undefined, edits: Edits): Promise<Edits> {
  if (!workflow) return edits;
  const { input, memory } = edits;
  const memories = Object.entries(typeof memory === "object" && memory !== null ? memory : {}).map(
    ([key, value]) => {
      if (value !== undefined) return [key, fitMemory(workflow, key, value)] as const;
      checkMemoryDeclared(workflow, key);
      return [key, value] as const;
    },
  );
  return {
    ...edits,
    ...(memories.length > 0 ? { memory: Object.fromEntries(memories) } : {}),
    ...("input" in edits && workflow.input
      ? { input: await conform(workflow.input, input, `The input of ${workflow.name}`) }
      : {}),
  };
}
