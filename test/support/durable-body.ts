import { type Context, type Engine, type Run, workflow } from "../../src/index.ts";
import { createLab, type Lab, signalled } from "./lab.ts";

/** A run that gets to the end of its body, loses its process there, and is taken over by another one. */
export async function crashed<T>(
  body: (ctx: Context) => Promise<T>,
): Promise<{ lab: Lab; run: Run; results: T[] }> {
  const lab = createLab();
  const results: T[] = [];
  const atEnd = signalled();
  const flow = workflow("flow", async (ctx) => {
    results.push(await body(ctx));
    await ctx.step("last", () => {
      atEnd.resolve();
      return results.length > 1 || new Promise<never>(() => undefined);
    });
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(atEnd.promise);
  const { run } = await lab.afterCrash(engine, [flow], "r");
  return { lab, run, results };
}

/** A run that is driven until it rests. */
export async function rested(
  body: (ctx: Context) => Promise<unknown>,
): Promise<{ lab: Lab; engine: Engine; run: Run; output: unknown }> {
  const lab = createLab();
  const flow = workflow("flow", body);
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  const run = await lab.drive(engine.settled("r"));
  const output = run.status === "completed" ? await lab.drive(engine.result("r")) : undefined;
  return { lab, engine, run, output };
}
