import {
  type AgentSpec,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  runAgent,
} from "../../src/agent/index.ts";
import { parseEntry } from "../../src/core/journal/journal.ts";
import type { Engine, StartOptions, Workflow } from "../../src/index.ts";
import { workflow } from "../../src/index.ts";
import type { JournalEvent } from "../../src/manage.ts";
import { createLab, type Lab } from "./lab.ts";

export type AnyWorkflow = Workflow<never, unknown>;

/** A model's output in one turn; the rest is filled in. */
export type Said =
  | Partial<ModelReply>
  | ((request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>);

export interface Stage {
  readonly lab: Lab;
  readonly flow: AnyWorkflow;
  readonly requests: ModelRequest[];
  begin(options?: StartOptions): Promise<Engine>;
  events(): Promise<JournalEvent[]>;
}

/** A model that gives these answers in order; they reach the agent unchanged, however odd. */
export function sayings(said: readonly Said[], requests: ModelRequest[] = []): ModelProvider {
  return {
    name: "sayings",
    async generate(request) {
      requests.push(request);
      const now = said[request.turn];
      if (now === undefined) throw Object.assign(new Error("the script has ended"), { retryable: false });
      const reply = typeof now === "function" ? await now(request) : now;
      return {
        text: "",
        calls: [],
        usage: { inputTokens: 1, outputTokens: 1 },
        model: request.model,
        finish: reply.calls?.length ? "tool-calls" : "stop",
        ...reply,
      };
    },
  };
}

/** A workflow with one agent `a` and one run `r` of it. */
export function stage(said: readonly Said[], spec: Partial<AgentSpec> = {}): Stage {
  const lab = createLab();
  const requests: ModelRequest[] = [];
  const provider = sayings(said, requests);
  const flow = workflow("flow", (ctx) =>
    runAgent(ctx, "a", { provider, model: "m", prompt: "go", ...spec }),
  ) as AnyWorkflow;
  return {
    lab,
    flow,
    requests,
    async begin(options = {}) {
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined as never, { id: "r", ...options }));
      return engine;
    },
    events: () => journalOf(lab),
  };
}

export async function journalOf({ store }: Lab): Promise<JournalEvent[]> {
  const entries = await store.entries("r", { from: 1, limit: 10_000 });
  return entries.flatMap((entry) => [...parseEntry("r", entry).events]);
}

/** Tool calls of a reply. */
export const calls = (
  ...list: readonly (readonly [tool: string, input?: unknown, id?: string])[]
): Partial<ModelReply> => ({
  calls: list.map(([tool, input = {}, id = ""], index) => ({ id: id || `id-${index}`, tool, input })),
});
