import assert from "node:assert/strict";
import { accepted, creation, everythingOf, outsideAct, step, take } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const batches: Behaviour = {
  name: "batches",
  cases: {
    "answer in order, each append on its own merits": async ({ store }) => {
      const one = await accepted(store, creation({ run: { id: "one" } }));
      const two = await accepted(store, creation({ run: { id: "two" } }));
      const gone = { ...one, id: "gone" };
      const results = await store.append([
        step(one),
        step(gone),
        creation({ run: { id: "three" } }),
        creation({ run: { id: "two" } }),
        step(two, { expect: { token: "stolen" } }),
        outsideAct(two, { claim: take("bob") }),
        step(two, { expect: { seq: 9 } }),
        step(two),
      ]);
      const answers = results.map((result) => (result.ok ? "taken" : result.reason));
      const expected = ["taken", "missing", "taken", "exists", "fenced", "held", "conflict", "taken"];
      assert.deepEqual(answers, expected);
    },

    "leave nothing of what was refused, and all of what was taken": async ({ store }) => {
      const one = await accepted(store, creation({ run: { id: "one" } }));
      const two = await accepted(store, creation({ run: { id: "two" } }));
      const before = await everythingOf(store, "two");
      await store.append([
        step(two, { expect: { seq: 5 }, run: { status: "failed" }, entry: { data: '"refused"' } }),
        step(one, { run: { status: "completed" }, entry: { data: '"taken"' } }),
      ]);
      assert.deepEqual(await everythingOf(store, "two"), before);
      const { row, entries } = await everythingOf(store, "one");
      assert.deepEqual([row?.status, row?.seq, entries[1]?.data], ["completed", 2, '"taken"']);
    },

    "give the row as it stands with each refusal": async ({ store }) => {
      const row = await accepted(store, creation());
      const [taken, refusal] = await store.append([step(row), step(row)]);
      assert.deepEqual(taken, { ok: true });
      assert.deepEqual(refusal, { ok: false, reason: "conflict", row: await store.read(row.id) });
    },

    "may hold several appends of one run, one after the other": async ({ store }) => {
      const first = creation();
      const row = {
        ...first.run,
        claim: { epoch: 1, owner: "ada", token: "ada-token", until: 0 },
        seq: 1,
        head: "",
      };
      const results = await store.append([first, step(row), step({ ...row, seq: 2 })]);
      assert.deepEqual(results, [{ ok: true }, { ok: true }, { ok: true }]);
      const { row: after, entries } = await everythingOf(store, "run-1");
      assert.deepEqual([after?.seq, entries.length], [3, 3]);
    },

    "may be empty": async ({ store }) => {
      assert.deepEqual(await store.append([]), []);
    },

    "of a hundred runs are taken whole": async ({ store }) => {
      const ids = Array.from({ length: 100 }, (_, i) => `run-${i}`);
      const results = await store.append(ids.map((id) => creation({ run: { id } })));
      assert.ok(results.every(({ ok }) => ok));
      for (const id of ids) assert.equal((await store.read(id))?.seq, 1);
    },
  },
};
