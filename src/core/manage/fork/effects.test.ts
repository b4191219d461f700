import { describe, expect, it } from "vitest";
import { checkpointsOf } from "../../../../test/support/family.ts";
import { createLab } from "../../../../test/support/lab.ts";
import { type Migration, workflow } from "../../../index.ts";
import type { EffectPolicy } from "../../../manage.ts";

type Version = "1" | "2";

const MIGRATIONS: readonly Migration[] = [
  { from: "1", to: "2", rename: { pay: "charge", team: "crew" } },
  { from: "2", to: "1", rename: { charge: "pay", crew: "team" } },
];

/** A run that stops at gates, so that processes of two versions can take turns with it, and then pays and lets a child send. */
function setup() {
  const lab = createLab();
  const calls: string[] = [];
  const made = (version: Version) => {
    const child = workflow("child", (ctx) => ctx.step("send", () => calls.push("send"), { effect: "once" }));
    const flow = workflow("flow", { version, migrations: MIGRATIONS }, async (ctx) => {
      for (const gate of ["a", "b", "c", "d"]) await ctx.gate(gate, { show: gate, choices: ["yes"] });
      await ctx.step(version === "1" ? "pay" : "charge", () => calls.push("pay"), { effect: "keyed" });
      return ctx.child(version === "1" ? "team" : "crew", child, undefined);
    });
    return { flow, engine: () => lab.engine([flow, child]) };
  };
  const versions = { "1": made("1"), "2": made("2") };
  const answer = async (version: Version, id: string, gate: string) => {
    const engine = versions[version].engine();
    await lab.drive(engine.answer(id, gate, { choice: "yes" }));
    await lab.drive(engine.settled(id));
    await lab.drive(engine.close());
  };
  const begin = async (history: readonly Version[]) => {
    const engine = versions["1"].engine();
    await lab.drive(engine.start(versions["1"].flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.close());
    for (const [index, version] of history.entries()) await answer(version, "r", "ab"[index] as string);
  };
  const fork = async (version: Version = "1") => {
    const engine = versions[version].engine();
    const at = (await checkpointsOf(lab.store, "r"))[1] ?? 0;
    await lab.drive(engine.fork(`r@${at}`, { id: "f" }));
    await lab.drive(engine.settled("f"));
    await lab.drive(engine.close());
  };
  return { lab, calls, begin, answer, fork };
}

const VERSIONS: readonly Version[] = ["1", "2"];

describe("a fork of a run whose steps were renamed there and back", () => {
  const histories = VERSIONS.flatMap((a) =>
    VERSIONS.flatMap((b) => VERSIONS.flatMap((c) => VERSIONS.map((d) => [a, b, c, d] as const))),
  );

  it.each(histories)(
    "takes over what was done by versions %s, %s, then %s, when it is of version %s",
    async (first, second, source, own) => {
      for (const isEarly of [true, false]) {
        const { calls, begin, answer, fork, lab } = setup();
        await begin([first, second]);
        if (isEarly) await fork();
        await answer(source, "r", "c");
        await answer(source, "r", "d");
        expect(calls).toEqual(["pay", "send"]);
        if (!isEarly) await fork(own);
        await answer(own, "f", "c");
        await answer(own, "f", "d");
        expect(await lab.store.read("f")).toMatchObject({ status: "completed" });
        expect(calls).toEqual(["pay", "send"]);
      }
    },
  );
});

const yes = { choices: ["yes"] };

/** Runs that start a team, which starts a tool, which sends: each after a gate, so that their order is ours. */
function family() {
  const lab = createLab();
  const sent: string[] = [];
  const tool = workflow("tool", async (ctx) => {
    await ctx.gate("go", yes);
    await ctx.step("send", () => sent.push(ctx.runId), { effect: "once" });
    return sent.length;
  });
  const team = workflow("team", (ctx) => ctx.child("tool", tool, undefined));
  const flow = workflow("flow", async (ctx) => {
    await ctx.gate("start", yes);
    return ctx.child("team", team, undefined);
  });
  const engine = lab.engine([flow, team, tool]);
  const below = async (id: string): Promise<string> =>
    (await lab.drive(engine.list({ parent: id, limit: 1 }))).runs[0]?.id ?? "";
  const answer = (id: string, gate: string) => lab.drive(engine.answer(id, gate, { choice: "yes" }));
  /** The run's tool, once it is at its gate. */
  const toolOf = async (id: string): Promise<string> => {
    for (let round = 0; ; round++) {
      const found = await below(await below(id));
      if (found !== "" && (await lab.drive(engine.gates(found))).length > 0) return found;
      if (round > 100) throw new Error(`no tool of ${id} is at its gate`);
      await lab.clock.advance(100);
    }
  };
  const begin = async () => {
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
  };
  const fork = async (source: string, id: string, effects: EffectPolicy = "reuse") => {
    await lab.drive(engine.fork(source, { id, effects }));
    await lab.drive(engine.settled(id));
  };
  const end = async (id: string) => {
    await answer(await toolOf(id), "go");
    await lab.drive(engine.result(id));
  };
  return { lab, engine, sent, answer, toolOf, begin, fork, end };
}

describe("a fork whose child began before its source had one", () => {
  it.each(["reuse", "block", "simulate", "allow"] as const)(
    "treats what the source's has done since as its policy %s says, however deep",
    async (effects) => {
      const { lab, engine, sent, answer, toolOf, begin, fork, end } = family();
      await begin();
      await fork("r", "f", effects);
      await answer("f", "start");
      const tool = await toolOf("f");
      await answer("r", "start");
      await end("r");
      const [first = ""] = sent;
      await answer(tool, "go");
      const row = await lab.drive(engine.settled(tool));
      const asked = row.waiting.map(({ step }) => step);
      expect([asked, sent]).toEqual([
        effects === "block" ? ["approve:send#fork"] : [],
        effects === "allow" ? [first, tool] : [first],
      ]);
      expect((await engine.checkpoints.validate(tool)).ok).toBe(true);
    },
  );

  it("does by itself what the source's never does, and without a second start", async () => {
    const { engine, sent, answer, begin, fork, end } = family();
    await begin();
    await fork("r", "f");
    await answer("f", "start");
    await end("f");
    expect(sent).toHaveLength(1);
    expect((await engine.checkpoints.validate("f")).ok).toBe(true);
  });
});

describe("a fork of a fork whose children had begun before those of the first run", () => {
  it("takes over what the first run's children have done since", async () => {
    const { lab, engine, sent, answer, toolOf, begin, fork, end } = family();
    await begin();
    await fork("r", "f");
    await answer("f", "start");
    await toolOf("f");
    await answer("r", "start");
    await end("r");
    await lab.drive(engine.fork("f", { id: "g" }));
    await end("g");
    expect(sent).toHaveLength(1);
  });

  it("takes over what the one between them has done since, too", async () => {
    const { sent, answer, toolOf, begin, fork, end } = family();
    await begin();
    await fork("r", "f");
    await fork("f", "g");
    // The first run's tool waits; the fork's fork begins with it before the fork does.
    await answer("r", "start");
    await toolOf("r");
    await answer("g", "start");
    await toolOf("g");
    await answer("f", "start");
    await end("f");
    await end("g");
    expect(sent).toHaveLength(1);
  });
});
