import { workflow } from "holdfast";

/** Three steps. The second one kills its own process the first time, as a power cut would. */
export const hello = workflow("hello-crash", async (ctx, input: { name?: string }) => {
  const { name = "Ada" } = input;
  ctx.plan(["look up", "compose", "send"]);
  const letters = await ctx.step("look up", () => {
    console.error("… looking up, which takes an hour and 2 dollars");
    return name.length;
  });
  const text = await ctx.step("compose", ({ attempt }) => {
    console.error(`… composing, attempt ${attempt}`);
    // Crash it here.
    if (attempt === 1) process.kill(process.pid, "SIGKILL");
    return `Hello ${name}, your name has ${letters} letters.`;
  });
  await ctx.step("send", ({ key }) => console.error(`… sending under the key ${key}`), { effect: "keyed" });
  return text;
});
