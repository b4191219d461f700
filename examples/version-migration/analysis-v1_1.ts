import { type Migration, workflow } from "holdfast";

/** Version 1.1 keeps how far each subtask has come. Those that were completed before have come all the way. */
export const migrate_v1_0_to_v1_1: Migration = {
  from: "1.0",
  to: "1.1",
  state: ({ memory }) => {
    const completed = (memory["completed_subtasks"] ?? []) as string[];
    return { memory: { subtask_progress: Object.fromEntries(completed.map((subtask) => [subtask, 1.0])) } };
  },
};

const options = { version: "1.1", schema: 2, migrations: [migrate_v1_0_to_v1_1] };

export const analysis = workflow("analysis", options, async (ctx) => {
  for (const subtask of ["fundamentals", "filings", "peers", "valuation"]) {
    await ctx.step(subtask, () => console.error(`… looked at the ${subtask}`));
    const progress = ctx.memory.get<Record<string, number>>("subtask_progress") ?? {};
    ctx.memory.set("subtask_progress", { ...progress, [subtask]: 1.0 });
  }
  return ctx.memory.get<Record<string, number>>("subtask_progress");
});
