import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { HoldfastError } from "../errors.ts";
import type { Store } from "../store/contract.ts";

const flow = workflow("flow", (ctx) => ctx.step("s", () => 1));

describe("a worker whose store is away when it begins", () => {
  it("begins by itself when the store is there (D11)", async () => {
    const lab = createLab();
    await lab.drive(lab.engine([flow], { execute: false }).start(flow, undefined, { id: "r" }));
    let [isDown, asked] = [true, 0];
    const identity: Store["identity"] = async () => {
      asked++;
      if (isDown) throw new HoldfastError("HF-3002");
      return lab.store.identity();
    };
    const store: Store = { ...lab.store, identity };
    const engine = lab.engine([flow], { store });
    const working = engine.work();
    await lab.clock.advance(60_000);
    expect((await lab.store.read("r"))?.status).toBe("queued");
    const before = asked;
    await lab.clock.advance(60_000);
    expect(asked - before).toBe(30);
    isDown = false;
    await lab.drive(working);
    expect(await lab.drive(engine.result("r"))).toBe(1);
    await lab.crash(engine);
  });

  it("gives up when it is closed, and says at once what waiting does not mend (D11)", async () => {
    const lab = createLab();
    const away: Store = { ...lab.store, identity: () => Promise.reject(new HoldfastError("HF-3002")) };
    const engine = lab.engine([flow], { store: away });
    const working = engine.work();
    await lab.clock.advance(1_000);
    await lab.drive(engine.close());
    await lab.drive(working);
    const newer: Store = { ...lab.store, identity: () => Promise.reject(new HoldfastError("HF-3005")) };
    await expect(lab.drive(lab.engine([flow], { store: newer }).work())).rejects.toMatchObject({
      code: "HF-3005",
    });
  });
});
