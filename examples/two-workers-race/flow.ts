import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { workflow } from "holdfast";

/** One long step: it works until there is a file called `enough`. */
export const race = workflow("two-workers-race", (ctx) =>
  ctx.step("work", async () => {
    console.error(`… process ${process.pid} works`);
    while (!existsSync("enough")) await pause(50);
    return `done by process ${process.pid}`;
  }),
);
