import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { type Context, HoldfastError, workflow } from "../index.ts";
import { checkName, nameProblem } from "./names.ts";

const BAD = {
  "half of a pair": "pay\ud800",
  "the other half": "\udc00pay",
  NUL: "pay\0",
  ESC: "pay\u001b[31m",
  "a C1 control": "pay\u009b",
  "a line end": "pay\n",
  "a line separator": "pay\u2028",
  "a change of direction": "pay\u202e",
  "a hidden isolate": "pay\u2066",
};

const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return "taken";
  } catch (error) {
    return HoldfastError.is(error) ? error.code : String(error);
  }
};

describe("a name that enters (D5)", () => {
  it("is text of any language, on one line", () => {
    for (const name of ["pay", "зарплата", "支払い", "دفع", "pay 💶 👩‍💻", "a".repeat(128)])
      expect(nameProblem(name), name).toBeUndefined();
    for (const [what, name] of Object.entries({ ...BAD, long: "a".repeat(129), empty: "" }))
      expect(nameProblem(name), what).toMatch(/^It /);
  });

  it("is shown escaped when it is refused", () => {
    for (const name of Object.values(BAD)) {
      const { message } = (() => {
        try {
          return checkName(name), new Error("taken");
        } catch (error) {
          return error as Error;
        }
      })();
      expect(nameProblem(message.slice(0, 128)), message).toBeUndefined();
    }
  });

  it("is refused at every border", async () => {
    const lab = createLab();
    const waits = workflow("waits", (ctx) => ctx.signal("go"));
    const engine = lab.engine([waits]);
    await lab.drive(engine.start(waits, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.start(waits, undefined, { id: "paused" }));
    await lab.drive(engine.pause("paused"));
    await lab.drive(engine.settled("paused"));
    for (const [what, name] of Object.entries(BAD)) {
      const borders: Readonly<Record<string, () => unknown>> = {
        workflow: () => workflow(name, async () => 1),
        version: () => workflow("w", { version: name }, async () => 1),
        owner: () => lab.engine([], { owner: name }),
        signal: () => engine.signal("r", name),
        actor: () => engine.pause("r", { actor: name }),
        "act id": () => engine.pause("r", { id: name }),
        label: () => engine.checkpoints.label("r@1", name),
        "memory key": () => engine.resume("paused", { set: { memory: { [name]: 1 } } }),
        filter: () => engine.list({ workflow: name, limit: 1 }),
        run: () => engine.get(name),
      };
      for (const [border, cross] of Object.entries(borders))
        expect(await codeOf(cross), `${border}: ${what}`).toMatch(/^HF-10(04|05|50)$/);
    }
  });

  it("is refused inside a run, which fails and says why", async () => {
    const lab = createLab();
    const bodies = {
      step: (ctx: Context, name: string) => ctx.step(name, () => 1),
      memory: async (ctx: Context, name: string) => ctx.memory.set(name, 1),
      model: async (ctx: Context, name: string) => ctx.usage({ tokens: 1, model: name }),
      signal: (ctx: Context, name: string) => ctx.signal(name),
    };
    for (const [kind, body] of Object.entries(bodies)) {
      const flow = workflow(`flow-${kind}`, (ctx, name: string): Promise<unknown> => body(ctx, name));
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, BAD.ESC, { id: kind }));
      await expect(lab.drive(engine.result(kind)), kind).rejects.toMatchObject({
        cause: { code: expect.stringMatching(/^HF-10(05|50)$/) },
      });
    }
  });

  it("leaves room for what is put before it: a signal that is taken can be waited for (X12)", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx, name: string) => ctx.signal(name));
    const engine = lab.engine([flow]);
    const longest = "s".repeat(121);
    await lab.drive(engine.start(flow, longest, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await expect(lab.drive(engine.signal("r", `${longest}s`))).rejects.toMatchObject({ code: "HF-1050" });
    await lab.drive(engine.signal("r", longest, 7));
    expect(await lab.drive(engine.result("r"))).toMatchObject({ payload: 7 });
  });
});
