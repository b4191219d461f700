import { describe, expect, it } from "vitest";
import { createEngine } from "../../core/engine/engine.ts";
import type { Store } from "../../core/store/contract.ts";
import { workflow } from "../../core/workflow.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { CommandContext } from "../context.ts";
import { takeGlobals } from "../globals.ts";
import type { Host } from "../host.ts";
import { Output } from "../output.ts";
import { drive } from "./drive.ts";

/** A store that can be taken away and given back. */
function fragile(): { store: Store; away: (isAway: boolean) => void } {
  let isAway = false;
  const store = new Proxy(createMemoryStore(), {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (isAway && key !== "close") throw new Error("connection refused");
        return value.apply(target, args) as unknown;
      };
    },
  });
  return { store, away: (now) => (isAway = now) };
}

function contextWith(lines: string[]): CommandContext<unknown> {
  const sink = {
    write: (text: string) => void lines.push(text),
    isTTY: false,
    columns: 110,
    isGone: false,
    onResize: () => () => undefined,
  };
  const host = {
    env: {},
    cwd: "/",
    stdout: sink,
    stderr: sink,
    canAsk: false,
    onSignal: () => () => undefined,
    onSuddenEnd: () => () => undefined,
  };
  const { globals } = takeGlobals(["--config", "none"]);
  const output = new Output(host as unknown as Host, globals);
  const given = {
    args: [],
    options: {},
    globals: { ...globals, config: undefined },
    host: host as unknown as Host,
  };
  return new CommandContext({ ...given, output, path: "run" });
}

describe("a run that is shown", () => {
  it("sits out a store that goes away, and says that nothing is saved meanwhile", async () => {
    const { store, away } = fragile();
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("first", async () => {
        await held;
        away(true);
      });
      return ctx.step("second", () => "done");
    });
    const lines: string[] = [];
    const engine = createEngine({ store, workflows: [flow] });
    engine.on("store_failing", () => away(false));
    await engine.start(flow, null, { id: "r1" });
    const go = async () => goOn();
    const { view } = await drive(contextWith(lines), { engine, store, runId: "r1", act: {}, go });
    expect(view.row.status).toBe("completed");
    expect(lines.join("")).toMatch(/! not saved since #\d+: connection refused; the run waits for the store/);
    expect(lines.join("")).toMatch(/✓ the store is back after /);
    await engine.close();
  });
});
