import { describe, expect, it } from "vitest";
import { createApiStage } from "../../../test/support/api.ts";
import { buildAct } from "../../core/journal/acts.ts";
import type { RunRow, Waiting } from "../../core/types.ts";
import { workflow } from "../../index.ts";
import { itemData, RunItems } from "./run-rows.ts";
import { RunView } from "./run-view.ts";

const nap = workflow("nap", (ctx) => ctx.sleep("nap", 60_000));

describe("a run that is about to continue", () => {
  it("waits for nothing wherever it is shown, whatever its row still holds", async () => {
    const { client, lab, engine } = createApiStage([nap]);
    await client.startRun({ workflow: "nap", id: "r" });
    await lab.crash(engine);
    const row = (await lab.store.read("r")) as RunRow;
    const waiting: Waiting[] = [
      { kind: "timer", step: "nap", since: 1, until: lab.clock.now() + 60_000, detail: "a nap" },
    ];
    // As a worker writes it that is closed while its store is slow.
    const events = [
      { kind: "run_waiting", step: "", meta: { waiting } },
      { kind: "run_released", step: "", meta: {} },
    ] as const;
    const expected = { epoch: row.claim.epoch, token: row.claim.token, seq: row.seq };
    const at = lab.clock.now();
    const { append } = buildAct(row, { events, claim: { kind: "release" } }, expected, { at });
    expect(await lab.store.append([append])).toEqual([{ ok: true }]);
    const stored = (await lab.store.read("r")) as RunRow;
    expect(stored).toMatchObject({ status: "queued", waiting });

    const desk = lab.engine([nap], { execute: false });
    const view = new RunView(lab.store, "r");
    await view.catchUp();
    const shown = {
      get: await desk.get("r"),
      list: (await desk.list()).runs[0],
      status: (await desk.status("r")).run,
      view: view.row,
      "list of the command line": itemData(await new RunItems(lab.store, at).of(stored)),
    };
    for (const [where, run] of Object.entries(shown))
      expect([where, run?.status, run?.waiting]).toEqual([where, "queued", []]);
    expect((await desk.list({ text: "a nap" })).runs).toEqual([]);
  });
});
