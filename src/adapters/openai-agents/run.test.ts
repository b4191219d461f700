import { Agent, handoff, type Session, tool } from "@openai/agents";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createLab, hangs, signalled } from "../../../test/support/lab.ts";
import { type OpenAiSaid, ScriptedModel } from "../../../test/support/scripted-openai.ts";
import { type Context, type Workflow, workflow } from "../../index.ts";
import { callOf, type DurableRunOptions, HoldfastSession, run } from "./index.ts";

type Flow = Workflow<never, unknown>;
const order = z.object({ order: z.string() });
const quiet = { tracingDisabled: true } as const;

/** A workflow that runs one agent. */
const flowOf = (agent: Agent, how: DurableRunOptions = {}, session?: (ctx: Context) => Session): Flow =>
  workflow("flow", async (ctx) => {
    const options = session ? { session: session(ctx) } : {};
    const result = await run(ctx, agent, "lamp?", options, { runner: quiet, ...how });
    return result.finalOutput;
  }) as Flow;

const scripted = (...said: OpenAiSaid[]) => new ScriptedModel((turn) => said[turn] ?? "end");

describe("an agent of the OpenAI Agents SDK", () => {
  it("is run in steps, and after a crash nothing that was answered is asked or called again", async () => {
    const lab = createLab();
    const acts: string[] = [];
    const keys: unknown[] = [];
    const refund = tool({
      name: "refund",
      description: "Gives money back",
      parameters: order,
      execute: ({ order: id }, _, details) => {
        acts.push(id);
        keys.push(callOf(details)?.key);
        return `refunded ${id}`;
      },
    });
    const [asked, model] = [signalled(), scripted([["refund", { order: "o-1" }]])];
    const hanging = new ScriptedModel((turn) =>
      turn === 0 ? [["refund", { order: "o-1" }]] : (asked.resolve(), hangs()),
    );
    const agentWith = (m: ScriptedModel) => new Agent({ name: "Clerk", model: m, tools: [refund] });
    const how: DurableRunOptions = { tools: { refund: "keyed" } };
    const engine = lab.engine([flowOf(agentWith(hanging), how)]);
    await lab.drive(engine.start(flowOf(agentWith(hanging), how), undefined as never, { id: "r" }));
    await lab.drive(asked.promise);
    const { engine: next } = await lab.afterCrash(engine, [flowOf(agentWith(model), how)], "r");
    expect(await next.result("r")).toBe("end");
    expect(acts).toEqual(["o-1"]);
    expect(keys).toEqual([expect.stringMatching(/.+/)]);
    expect(hanging.requests.length + model.requests.length).toBe(3);
    const { steps } = await next.checkpoints.state("r");
    expect(Object.keys(steps)).toEqual(["agent.1.model", "agent.1.tool:refund", "agent.2.model"]);
    expect((await next.get("r"))?.usage.tokens).toBe(10);
  });

  it("asks at a gate where a tool needs approval, and tells the model of a no", async () => {
    for (const choice of ["approve", "deny"] as const) {
      const lab = createLab();
      let sent = 0;
      const mail = tool({
        name: "mail",
        description: "Sends mail",
        parameters: z.object({}),
        needsApproval: true,
        execute: () => `sent ${++sent}`,
      });
      const model = scripted([["mail", {}]]);
      const flow = flowOf(new Agent({ name: "Clerk", model, tools: [mail] }));
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined as never, { id: "r" }));
      const { waiting } = await lab.drive(engine.settled("r"));
      expect(waiting).toMatchObject([{ kind: "gate", step: "agent.1.allow:mail" }]);
      const { engine: next } = await lab.afterCrash(engine, [flow], "r");
      await lab.drive(next.answer("r", "agent.1.allow:mail", { choice, actor: "ada", text: "because" }));
      expect(await lab.drive(next.result("r"))).toBe("end");
      expect(sent).toBe(choice === "approve" ? 1 : 0);
      if (choice === "deny")
        expect(JSON.stringify(model.requests.at(-1)?.input)).toContain("ada said no. because");
    }
  });

  it("leaves a call that threw in doubt, though the SDK hides the error, unless its arguments were refused", async () => {
    const lab = createLab();
    let calls = 0;
    const pay = tool({
      name: "pay",
      description: "Pays",
      parameters: order,
      execute: () => {
        calls++;
        throw new Error("the line was cut");
      },
    });
    const model = scripted([["pay", { wrong: 1 }]], [["pay", { order: "o-1" }]]);
    const flow = flowOf(new Agent({ name: "Clerk", model, tools: [pay] }));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined as never, { id: "r" }));
    const { waiting } = await lab.drive(engine.settled("r"));
    expect(waiting).toMatchObject([{ kind: "decision", step: "agent.2.tool:pay" }]);
    expect(calls).toBe(1);
    expect(model.requests).toHaveLength(2);
  });

  it("hands over to other agents, whose calls are steps of the same run", async () => {
    const lab = createLab();
    const look = tool({
      name: "look",
      description: "Looks",
      parameters: z.object({}),
      execute: () => "seen",
    });
    const back = new ScriptedModel((turn) => (turn === 1 ? [["look", {}]] : "from the back"));
    const second = new Agent({ name: "Back", model: back, tools: [look] });
    const first = new Agent({
      name: "Front",
      model: scripted([["transfer_to_Back", {}]]),
      handoffs: [handoff(second)],
    });
    second.handoffs.push(first as never);
    const flow = flowOf(first, { tools: { look: "repeatable" } });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined as never, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toBe("from the back");
    const { steps } = await engine.checkpoints.state("r");
    expect(Object.keys(steps)).toEqual([
      "agent.1.model",
      "agent.2.model",
      "agent.2.tool:look",
      "agent.3.model",
    ]);
    expect(back.requests).toHaveLength(2);
  });

  it("keeps a session in the store, and adds nothing twice after a crash", async () => {
    const lab = createLab();
    const asked = signalled();
    const session = () => new HoldfastSession(lab.store, "customer-7");
    const first = new ScriptedModel(() => (asked.resolve(), hangs()));
    const flow = (model: ScriptedModel) => flowOf(new Agent({ name: "Clerk", model }), {}, session);
    const engine = lab.engine([flow(first)]);
    await lab.drive(engine.start(flow(first), undefined as never, { id: "r" }));
    await lab.drive(asked.promise);
    const { engine: next } = await lab.afterCrash(engine, [flow(scripted())], "r");
    expect(await next.result("r")).toBe("end");
    const items = await session().getItems();
    expect(items.map((item) => ("role" in item ? item.role : item.type))).toEqual(["user", "assistant"]);
    expect((await next.get("customer-7"))?.workflow).toBe("openai-agents-session");
    expect(await session().popItem()).toMatchObject({ role: "assistant" });
    expect(await session().getItems(1)).toMatchObject([{ role: "user" }]);
    await session().clearSession();
    expect(await session().getItems()).toEqual([]);
  });

  it("tries again what a provider refuses for a time, and refuses wrong settings before anything is asked", async () => {
    const lab = createLab();
    let times = 0;
    const model = new ScriptedModel(() => {
      if (++times === 1) throw Object.assign(new Error("slow down"), { status: 429 });
      return "at last";
    });
    const flow = flowOf(new Agent({ name: "Clerk", model }));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined as never, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toBe("at last");
    const wrong = flowOf(new Agent({ name: "Clerk", model }), { tools: { nothing: "once" } });
    const other = createLab();
    const another = other.engine([wrong]);
    await other.drive(another.start(wrong, undefined as never, { id: "r" }));
    await expect(other.drive(another.result("r"))).rejects.toMatchObject({ cause: { code: "HF-4610" } });
    expect(times).toBe(2);
  });
});
