import { appendFileSync } from "node:fs";
import { workflow } from "holdfast";
import { type AgentTool, runAgent, scriptedProvider } from "holdfast/agent";
import { broken, ORIGINAL, read, write } from "./workspace.ts";

const FILES = Object.keys(ORIGINAL).filter((file) => file !== "setup.js");
const edits = FILES.map((file) => ({
  calls: [{ tool: "replace", input: { file, from: "fetchData", to: "loadRecord" } }],
}));

/** The model, offline: one file a turn. */
const model = scriptedProvider(
  {
    agents: {
      // Crash it here: the process dies at the sixth file.
      refactorer: [
        ...edits.slice(0, 5),
        { crash: true },
        ...edits.slice(5),
        { json: { unused: ["setup.js"] } },
      ],
    },
  },
  {
    onCall: ({ turn }) => appendFileSync("calls.log", `turn ${turn}\n`),
    crash: () => process.kill(process.pid, "SIGKILL"),
  },
);

const replace: AgentTool = {
  name: "replace",
  description: "Replaces a name in a file",
  parameters: {
    type: "object",
    properties: { file: { enum: FILES }, from: { type: "string" }, to: { type: "string" } },
    required: ["file", "from", "to"],
  },
  // Doing it twice is doing it once.
  effect: "repeatable",
  run: ({ file, from, to }: { file: string; from: string; to: string }) => {
    const files = read();
    write({ ...files, [file]: (files[file] ?? "").replaceAll(from, to) });
    return `${file}: ok`;
  },
};

/** Renames a function file by file, then deletes what seems unused: that is checked, and taken back when it was wrong. */
export const refactor = workflow("codebase-refactor", async (ctx) => {
  ctx.plan(["check out", "refactorer", "snapshot", "delete", "check"]);
  await ctx.step("check out", () => write(ORIGINAL));
  const { output } = await runAgent<{ unused: string[] }>(ctx, "refactorer", {
    provider: model,
    model: "offline",
    prompt: "Rename fetchData to loadRecord everywhere. Then name the files that nobody needs.",
    tools: [replace],
    output: {
      type: "object",
      properties: { unused: { type: "array", items: { type: "string" } } },
      required: ["unused"],
    },
  });
  const snapshot = await ctx.step("snapshot", read);
  await ctx.checkpoint("before-delete", "before_risky_operation");
  await ctx.step("delete", () => {
    const left = Object.entries(snapshot).filter(([file]) => !output.unused.includes(file));
    write(Object.fromEntries(left));
  });
  const wrong = await ctx.step("check", broken);
  if (wrong.length === 0) return { deleted: output.unused, files: Object.keys(snapshot).length };
  await ctx.step("roll back", () => write(snapshot));
  return {
    rolledBack: `deleting ${output.unused.join(", ")} broke ${wrong.length} files`,
    files: Object.keys(snapshot).length,
  };
});
