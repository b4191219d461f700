import { describe, expect, it } from "vitest";
import { cliFolder } from "../../test/support/cli.ts";
import { code } from "../../test/support/code.ts";
import { testKeyring } from "../../test/support/sealed.ts";
import { createEngine, workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { openSqliteStore } from "../stores/sqlite/index.ts";
import { packStore, sealStore } from "./index.ts";
import { parseKeys } from "./keyring.ts";

const flow = workflow("flow", (ctx) => ctx.step("one", () => "secret"));

describe("a store that is encrypted", () => {
  it("takes nothing from whoever opens it without its keys (X4)", async () => {
    const inner = createMemoryStore();
    const sealed = await sealStore(inner, { keyring: testKeyring("k1") });
    const owner = createEngine({ store: sealed, workflows: [flow] });
    await owner.start(flow, undefined, { id: "r" });
    await owner.result("r");
    await owner.close();
    for (const store of [inner, packStore(inner)]) {
      const engine = createEngine({ store, workflows: [flow] });
      const acts = [
        engine.start(flow, undefined, { id: "s" }),
        engine.get("r"),
        engine.list({ limit: 1 }),
        engine.pause("r"),
        engine.recover(),
        engine.checkpoints.validate("r"),
      ];
      expect(await Promise.all(acts.map(code))).toEqual(acts.map(() => "HF-3062"));
      await engine.close();
    }
    expect(await inner.read("s")).toBeNull();
    expect(await sealed.read("r")).not.toBeNull();
  });

  it("is refused by every command that would read or write it, and doctor says so (X4)", async () => {
    const folder = cliFolder();
    const url = `${folder.path}/.holdfast/holdfast.db`;
    const inner = await openSqliteStore({ file: url });
    const sealed = await sealStore(inner, { keyring: testKeyring("k1") });
    await sealed.close();
    folder.write("flow.mjs", "export const flow = 1;");
    folder.write("r.jsonl", "{}");
    const commands = [
      "list",
      "show r",
      "logs r",
      "pause r",
      "resume r",
      "cancel r",
      "inject r --text x",
      "gate list",
      "checkpoints list r",
      "cost",
      "report recoveries",
      "export r",
      "import r.jsonl",
      "accept r",
    ];
    for (const command of commands) {
      const { stderr } = await folder.run(command);
      expect(stderr, command).toContain("HF-3062");
    }
    const { stdout } = await folder.run("doctor");
    expect(stdout).toContain("✗ encryption   off, and the store is encrypted");
    folder.remove();
  });
});

describe("a key", () => {
  const key = (bytes: Uint8Array | readonly number[]) => Buffer.from(bytes).toString("base64");
  const weak = {
    zeros: key(new Uint8Array(32)),
    "one byte": key(new Uint8Array(32).fill(7)),
    "a block twice": key(Buffer.from("abcdefghijklmnop".repeat(2))),
    counting: key(Array.from({ length: 32 }, (_, at) => at)),
    "counting down": key(Array.from({ length: 32 }, (_, at) => 255 - at)),
    "a word": key(Buffer.from("password".repeat(4))),
  };
  it.each(Object.entries(weak))("is refused when it is not random: %s (X12)", (_, base64) => {
    expect(() => parseKeys("the test", [["k1", base64]])).toThrow(
      expect.objectContaining({ code: "HF-3034" }),
    );
  });
});
