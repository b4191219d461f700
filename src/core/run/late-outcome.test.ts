import { describe, expect, it } from "vitest";
import { createLab, signalled } from "../../../test/support/lab.ts";
import { type Verdict, workflow } from "../../index.ts";
import { parseEntry } from "../journal/journal.ts";

/** A mail is under way when its worker loses the run; the next one asks what became of it, and has no answer yet. */
async function asked() {
  const lab = createLab();
  const [sent, asking, verdict] = [signalled<string>(), signalled(), signalled<Verdict<string>>()];
  let calls = 0;
  const flow = workflow("flow", (ctx) =>
    ctx.step(
      "mail",
      () => {
        calls++;
        return sent.promise;
      },
      {
        effect: "once",
        verify: () => {
          asking.resolve();
          return verdict.promise;
        },
      },
    ),
  );
  const first = lab.engine([flow]);
  await lab.drive(first.start(flow, undefined, { id: "r" }));
  await lab.clock.advance(100);
  await lab.crash(first);
  await lab.clock.advance(20_000);
  const engine = lab.engine([flow]);
  await lab.drive(engine.recover());
  await lab.drive(asking.promise);
  const decisions = async () => {
    const entries = await lab.store.entries("r", { from: 1, limit: 100 });
    const events = entries.flatMap((entry) => parseEntry("r", entry).events);
    return events.flatMap(({ step, kind }) => (step === "mail" && kind !== "step_started" ? [kind] : []));
  };
  return { lab, engine, sent, verdict, decisions, calls: () => calls };
}

describe("an outcome that comes while another worker asks for it", () => {
  it.each([
    ["was done", { status: "done", value: "found" }],
    ["was not done", { status: "not-done" }],
    ["is unknown", { status: "unknown" }],
  ] satisfies [string, Verdict<string>][])(
    "counts, once, although the hook then says that it %s",
    async (_, answer) => {
      const { lab, engine, sent, verdict, decisions, calls } = await asked();
      sent.resolve("sent");
      await lab.clock.advance(100);
      expect(await decisions()).toEqual(["step_evidence"]);
      verdict.resolve(answer);
      expect(await lab.drive(engine.result("r"))).toBe("sent");
      expect(await decisions()).toEqual(["step_evidence"]);
      expect(calls()).toBe(1);
    },
  );

  it("is not waited for when the hook has answered before", async () => {
    const { lab, engine, sent, verdict, decisions, calls } = await asked();
    verdict.resolve({ status: "done", value: "found" });
    expect(await lab.drive(engine.result("r"))).toBe("found");
    sent.resolve("sent");
    await lab.clock.advance(100);
    expect((await decisions())[0]).toBe("step_completed");
    expect(calls()).toBe(1);
  });
});

describe("an outcome of a worker with other names for its steps", () => {
  it("comes under today's name, and nothing that has ended since is done again", async () => {
    const lab = createLab();
    const late = signalled<string>();
    const calls: string[] = [];
    const version = (own: string, outer: string, from: string, was: string, charge: () => Promise<string>) =>
      workflow(
        "flow",
        { version: own, migrations: [{ from, to: own, rename: { [was]: outer } }] },
        async (ctx) => {
          const charged = await ctx.step(outer, () =>
            ctx.step("charge", () => (calls.push(own), charge()), { effect: "keyed" }),
          );
          await ctx.gate("more", { choices: ["go"] });
          return charged;
        },
      );
    const newer = (charge: () => Promise<string>) => version("2", "settle", "1", "pay", charge);
    const older = version("1", "pay", "2", "settle", async () => "charged");
    const flow = newer(() => late.promise);
    const first = lab.engine([flow]);
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.crash(first);
    await lab.clock.advance(20_000);
    const second = lab.engine([older]);
    await lab.drive(second.recover());
    await lab.drive(second.settled("r"));
    late.resolve("late");
    await lab.clock.advance(100);
    await lab.crash(second);
    const third = lab.engine([newer(async () => "again")]);
    await lab.drive(third.answer("r", "more", { choice: "go" }));
    expect(await lab.drive(third.result("r"))).toBe("charged");
    expect(calls).toEqual(["2", "1"]);
    const entries = await lab.store.entries("r", { from: 1, limit: 100 });
    const evidence = entries
      .flatMap((entry) => parseEntry("r", entry).events)
      .filter(({ kind }) => kind === "step_evidence");
    expect(evidence.map(({ step }) => step)).toEqual(["pay/charge"]);
  });
});
