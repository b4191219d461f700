import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../source-tree.ts";
import { Terminal } from "./terminal.ts";

const FLOW = `import { workflow } from "holdfast";
const step = "a-step-whose-name-is-longer-than-most-names-are";
export const booking = workflow("booking-of-a-trip-to-norway", async (ctx) => {
  await ctx.step(step, () => 1);
  await ctx.gate("approve", { show: { to: "Oslo", price: 420 }, choices: ["approve", "reject"] });
  await ctx.step("charge", () => {
    throw new Error("HTTP 402: the bank of the customer has declined the card, please try another one");
  }, { retry: { attempts: 1 } });
});
`;

/** A folder with a workflow that waits at a gate, and fails after it. */
export function makeStage(folder: string): void {
  mkdirSync(path.join(folder, "node_modules"), { recursive: true });
  symlinkSync(ROOT, path.join(folder, "node_modules/holdfast"), "junction");
  writeFileSync(path.join(folder, "package.json"), "{}");
  writeFileSync(path.join(folder, "booking.mjs"), FLOW);
}

/** Looks at one command after another in a real terminal. Returns what each left on the screen, by what it was. */
export async function lookAt(
  folder: string,
  columns: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const holdfast = `${process.execPath} ${path.join(ROOT, "dist/cli/main.js")}`;
  const terminal = new Terminal(columns, folder, { holdfast });
  const screens = new Map<string, readonly string[]>();
  try {
    const ended = terminal.start("holdfast run booking.mjs --id oslo");
    screens.set("a gate that waits", await terminal.until("waiting for you"));
    terminal.press("C-c");
    ended();
    screens.set("Ctrl-C at a gate", terminal.screen());
    for (const command of [
      "list",
      "show oslo",
      "resume oslo --plan",
      "gate approve oslo",
      "resume oslo",
      "show oslo:charge",
      "checkpoints list oslo",
      "show nowhere",
      "list --needs-me",
    ])
      screens.set(command, terminal.type(`holdfast ${command}`));
    return screens;
  } finally {
    terminal.close();
  }
}
