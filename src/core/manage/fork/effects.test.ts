import { describe, expect, it } from "vitest";
import { checkpointsOf } from "../../../../test/support/family.ts";
import { createLab } from "../../../../test/support/lab.ts";
import { type Migration, workflow } from "../../../index.ts";

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
