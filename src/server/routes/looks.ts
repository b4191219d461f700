import type { Handlers } from "../call.ts";
import type { lookOperations } from "../contract/looks.ts";

export const lookRoutes: Handlers<keyof typeof lookOperations> = {
  async previewSchedule({ engine, body: { options, count } }) {
    return { next: await engine.schedules.preview(options, { count }) };
  },

  reportSteps: async ({ engine, query }) => engine.reports.steps(query),
  listActs: async ({ engine, query }) => engine.reports.acts(query),
};
