import assert from "node:assert/strict";
import type { Alone, Append, ClaimChange, ClaimLimit, Store } from "../../core/store/contract.ts";
import type { RunIdentity, RunProjection, RunRow } from "../../core/types.ts";
import { accepted, creation, HOUR, outsideAct, refused, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const limited = (owner: string, limits: readonly ClaimLimit[], ttlMs = HOUR): ClaimChange => ({
  kind: "acquire",
  owner,
  token: `${owner}-token`,
  ttlMs,
  limits,
});

/** Runs that wait in a queue. */
async function queued(store: Store, ids: readonly string[], key: string | null = null): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  for (const id of ids) {
    const run = { id, queue: "mail", key, status: "queued", wakeAt: 0 } as const;
    rows.push(await accepted(store, creation({ run, claim: { kind: "release" } })));
  }
  return rows;
}

const claim = (row: RunRow, change: ClaimChange) =>
  outsideAct(row, { run: { status: "running" }, claim: change });

const MAIL: ClaimLimit = { queue: "mail", most: 2 };

/** A store that can't count runs and claim one in one transaction says so and refuses limits. */
export const limits: Behaviour = {
  name: "limits of claims",
  cases: {
    "are kept to, or refused by a store that cannot": async ({ store }) => {
      const [a, b, c] = (await queued(store, ["a", "b", "c"])) as [RunRow, RunRow, RunRow];
      if (store.capabilities.limits !== true) {
        await assert.rejects(store.append([claim(a, limited("ada", [MAIL]))]), { code: "HF-3092" });
        assert.deepEqual(await store.read("a"), a);
        await accepted(store, claim(a, limited("ada", [])));
        return;
      }
      const first = await accepted(store, claim(a, limited("ada", [MAIL])));
      await accepted(store, claim(b, limited("bob", [MAIL])));
      await refused(store, claim(c, limited("cleo", [MAIL])), "full");
      await refused(store, claim(c, limited("cleo", [{ queue: "mail", most: 0 }])), "full");
      // Another queue is not counted.
      const free = await accepted(store, claim(c, limited("cleo", [{ queue: "Mail", most: 1 }])));
      const back = step(free, { run: { status: "queued" }, claim: { kind: "release" } });
      const again = await accepted(store, back);
      await accepted(store, step(first, { run: { status: "waiting" }, claim: { kind: "release" } }));
      await accepted(store, claim(again, limited("cleo", [MAIL])));
    },

    "count by key, and all of them must hold": async ({ store }) => {
      if (store.capabilities.limits !== true) return;
      const [a, b] = (await queued(store, ["a", "b"], "c7")) as [RunRow, RunRow];
      const [other] = (await queued(store, ["other"], "c8")) as [RunRow];
      const both = (key: string): ClaimLimit[] => [MAIL, { queue: "mail", key, most: 1 }];
      await accepted(store, claim(a, limited("ada", both("c7"))));
      await refused(store, claim(b, limited("bob", both("c7"))), "full");
      await accepted(store, claim(other, limited("cleo", both("c8"))));
      await refused(store, claim(b, limited("bob", [{ queue: "mail", key: "c9", most: 1 }, MAIL])), "full");
    },

    "leave out the run itself, so that a dead worker's run can be taken over": async ({ store }) => {
      if (store.capabilities.limits !== true) return;
      const [a] = (await queued(store, ["a"])) as [RunRow];
      const one = [{ queue: "mail", most: 1 }];
      const dead = await accepted(store, claim(a, limited("ada", one, 0)));
      assert.equal(dead.status, "running");
      await accepted(store, claim(dead, limited("bob", one)));
    },

    "come after every other reason for a refusal": async ({ store }) => {
      if (store.capabilities.limits !== true) return;
      const [a, b] = (await queued(store, ["a", "b"])) as [RunRow, RunRow];
      const held = await accepted(store, claim(a, limited("ada", [{ queue: "mail", most: 1 }])));
      const none = [{ queue: "mail", most: 0 }];
      await refused(store, claim(held, limited("bob", none)), "held");
      await refused(store, claim({ ...b, seq: 7 }, limited("bob", none)), "conflict");
      await refused(
        store,
        creation({ run: { id: "a", queue: "mail" }, claim: limited("bob", none) }),
        "exists",
      );
      await refused(store, claim({ ...b, id: "nobody" }, limited("bob", none)), "missing");
      await refused(
        store,
        creation({ run: { id: "new", queue: "mail" }, claim: limited("bob", none) }),
        "full",
      );
    },

    "hold exactly when many claim at once, in batches and one by one": async ({ store }) => {
      if (store.capabilities.limits !== true) return;
      const ids = Array.from({ length: 12 }, (_, i) => `r${String(i).padStart(2, "0")}`);
      const rows = await queued(store, ids);
      const claims = rows.map((row) => claim(row, limited(`w-${row.id}`, [{ queue: "mail", most: 5 }])));
      const results = await Promise.all([
        store.append(claims.slice(0, 4)),
        ...claims.slice(4).map((one) => store.append([one])),
      ]);
      const answers = results.flat();
      assert.equal(answers.filter(({ ok }) => ok).length, 5);
      assert.ok(answers.every((one) => one.ok || one.reason === "full"));
      const { runs } = await store.list({ queue: "mail", status: ["running"], limit: 100 });
      assert.equal(runs.length, 5);
    },
  },
};

const alone = (
  id: string,
  among: Alone["among"],
  more: Partial<RunIdentity & RunProjection> = {},
): Append => ({
  ...creation({ run: { id, key: "c7", status: "queued", wakeAt: 0, ...more }, claim: { kind: "release" } }),
  alone: { key: more.key ?? "c7", among },
});

const START = { status: "waiting", waiting: [{ kind: "start", step: "", since: 1, until: 2 }] } as const;

/** A store that can't look for other runs and create one in one transaction refuses such a create. */
export const aloneWithKey: Behaviour = {
  name: "creates that are alone with their key",
  cases: {
    "are refused beside an unended run, or by a store that cannot": async ({ store }) => {
      if (store.capabilities.limits !== true) {
        await assert.rejects(store.append([alone("a", "unended")]), { code: "HF-3092" });
        return;
      }
      const inTheWay = { ok: false, reason: "taken", row: null, by: "a" } as const;
      const first = await accepted(store, alone("a", "unended"));
      assert.deepEqual(await store.append([alone("b", "unended")]), [inTheWay]);
      assert.deepEqual(await store.read("b"), null);
      await accepted(store, alone("other-key", "unended", { key: "c8" }));
      await accepted(store, alone("other-workflow", "unended", { workflow: "bills" }));
      await accepted(store, alone("unbegun", "unbegun"));
      await refused(store, alone("a", "unended"), "exists");
      await accepted(store, outsideAct(first, { run: { status: "failed" } }));
      assert.deepEqual(await store.append([alone("b", "unended")]), [{ ...inTheWay, by: "unbegun" }]);
    },

    "are refused beside a run that waits for its start": async ({ store }) => {
      if (store.capabilities.limits !== true) return;
      const first = await accepted(store, alone("a", "unbegun", START));
      const taken = [{ ok: false, reason: "taken", row: null, by: "a" }];
      assert.deepEqual(await store.append([alone("b", "unbegun", START)]), taken);
      await accepted(store, outsideAct(first, { run: { status: "running", waiting: [] } }));
      await accepted(store, alone("b", "unbegun", START));
    },

    "leave one of many at once, in batches and one by one": async ({ store }) => {
      if (store.capabilities.limits !== true) return;
      const creates = Array.from({ length: 10 }, (_, i) => alone(`r${i}`, "unended"));
      const results = await Promise.all([
        store.append(creates.slice(0, 4)),
        ...creates.slice(4).map((one) => store.append([one])),
      ]);
      const answers = results.flat();
      assert.equal(answers.filter(({ ok }) => ok).length, 1);
      assert.ok(answers.every((one) => one.ok || (one.reason === "taken" && one.by !== undefined)));
      assert.equal((await store.list({ key: "c7", limit: 100 })).runs.length, 1);
    },
  },
};
