import { once } from "node:events";
import { createInterface } from "node:readline";
import { createEngine, type HoldfastError, type StepCall, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/**
 * A second process beside the test. `answer <file> <gate> <times>`: answers a gate that many times at once when a line
 * arrives, and prints each outcome. `work <file>`: starts a run whose tool only waits until it is told to stop.
 */
const [role = "", file = "", gate = "", times = "1"] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const store = await openSqliteStore({ file });

async function answer(): Promise<void> {
  const desk = createEngine({ store, execute: false });
  await desk.get("r");
  say("ready");
  await once(createInterface(process.stdin), "line");
  const actor = `process ${process.pid}`;
  const told = Array.from({ length: Number(times) }, () =>
    desk.answer("r", gate, { choice: "yes", actor }).then(
      () => "taken",
      (error: HoldfastError) => error.code,
    ),
  );
  say(JSON.stringify(await Promise.all(told)));
  await desk.close();
  await store.close();
  process.exit(0);
}

async function work(): Promise<void> {
  let heard = (): void => undefined;
  const told = new Promise<void>((resolve) => void (heard = resolve));
  const tool = ({ signal }: StepCall): Promise<never> => {
    say("ready");
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        say("told");
        heard();
        reject(signal.reason as Error);
      });
    });
  };
  const flow = workflow("flow", async (ctx) => {
    await ctx.step("book", () => "seat", { compensate: () => say("undone") });
    await ctx.step("tool", tool);
  });
  const engine = createEngine({ store, workflows: [flow] });
  await engine.start(flow, undefined, { id: "r" });
  const error = (await engine.result("r").catch((thrown: unknown) => thrown)) as HoldfastError;
  await told;
  say(error.code);
  await engine.close();
  await store.close();
  process.exit(0);
}

await (role === "answer" ? answer() : work());
