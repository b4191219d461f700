import { workflow } from "holdfast";

/** Version 1.0 of an agent: it remembers which subtasks it has completed. */
export const analysis = workflow("analysis", { version: "1.0" }, async (ctx) => {
  for (const subtask of ["fundamentals", "filings", "peers", "valuation"]) {
    await ctx.step(subtask, () => console.error(`… looked at the ${subtask}`));
    const completed = ctx.memory.get<string[]>("completed_subtasks") ?? [];
    ctx.memory.set("completed_subtasks", [...completed, subtask]);
  }
  return ctx.memory.get<string[]>("completed_subtasks");
});
