import type { AgentInputItem, Session } from "@openai/agents";
import type { StepCall } from "../../core/context.ts";
import type { Talk } from "../talk.ts";
import { HoldfastSession } from "./session.ts";

/**
 * A session whose reads and writes are steps of the run: after a crash the run sees the history that it saw before, and
 * no item is added twice. Sessions of other makes take no key, so a write in doubt waits for a person.
 */
export function durableSession(talk: Talk, session: Session): Session {
  const { ctx, name } = talk;
  const own = session instanceof HoldfastSession ? session : undefined;
  const read = <T>(verb: string, work: () => Promise<T>): Promise<T> =>
    talk.inScope(() => ctx.step(`${name}.session.${verb}`, work, { effect: "repeatable" }));
  const write = <T>(verb: string, work: (call: StepCall) => Promise<T>): Promise<T> =>
    talk.inScope(() => ctx.step(`${name}.session.${verb}`, work, { effect: own ? "keyed" : "once" }));
  return {
    getSessionId: () => session.getSessionId(),
    getItems: (limit) => read("read", () => session.getItems(limit)),
    addItems: (items: AgentInputItem[]) =>
      write("add", async ({ key }) => {
        await (own ? own.addItems(items, undefined, key) : session.addItems(items));
      }),
    popItem: () =>
      write(
        "pop",
        async ({ key }) => (await (own ? own.popItem(undefined, key) : session.popItem())) ?? null,
      ).then((item) => item ?? undefined),
    clearSession: () =>
      write("clear", async ({ key }) => {
        await (own ? own.clearSession(undefined, key) : session.clearSession());
      }),
  };
}
