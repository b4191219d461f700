import { afterAll, describe, it } from "vitest";
import { engineBehaviours } from "../../../test/support/engines/suite.ts";
import { all } from "../../../test/support/engines/workflows.ts";
import { sharedTemporal } from "../../../test/support/services/temporal.ts";
import { createEngine, type Engine } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { createTemporalEngine, temporalWorker } from "./index.ts";

const { address, bundle, missing } = await sharedTemporal();

function conforms(name: string, engine: Engine, skipped: string | undefined): void {
  describe.skipIf(skipped !== undefined)(`S1-23 S1-33: the engine ${name}`, () => {
    for (const [group, behaviours] of Object.entries(engineBehaviours))
      describe(group, () => {
        let number = 0;
        for (const [title, show] of Object.entries(behaviours)) {
          const id = `${name.replaceAll(" ", "-")}-${group.replaceAll(/\W/g, "-")}-${number++}-${process.pid}`;
          it.concurrent(title, () => show(engine, id));
        }
      });
  });
}

const embedded = createEngine({ store: createMemoryStore(), workflows: all });
afterAll(() => embedded.close());
conforms("with a store", embedded, undefined);

// Nobody is killed here, so that no busy machine may look like a dead worker.
const where = {
  address: address ?? "",
  taskQueue: `engines-${process.pid}`,
  workflows: all,
  heartbeatMs: 30_000,
};
const worker = missing === undefined ? await temporalWorker({ ...where, bundle }) : undefined;
const remote = createTemporalEngine(where);
afterAll(async () => {
  await remote.close();
  await worker?.close();
});
conforms("on Temporal", remote, missing);
