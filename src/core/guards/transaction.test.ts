import { describe, expect, it } from "vitest";
import { useFolders } from "../../../test/support/folders.ts";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import {
  type Context,
  type Engine,
  HoldfastError,
  type Policy,
  type PolicyRequest,
  type PolicyVerdict,
  workflow,
} from "../../index.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";
import { parseEntry } from "../journal/journal.ts";

const newFile = useFolders("guarded-transaction");

const sqliteLab = async (): Promise<Lab> =>
  createLab(await openSqliteStore({ file: newFile(), clock: createLab().clock }));

/** One row for the run, and how many rows there are. */
const book = (ctx: Context, amount: number, meanwhile: () => void = () => undefined): Promise<number> =>
  ctx.transaction(
    "book",
    (sql) => {
      sql.run("create table if not exists bookings (run text, amount integer)");
      sql.run("insert into bookings values (?, ?)", ctx.runId, amount);
      meanwhile();
      return sql.all("select run from bookings").length;
    },
    { input: { amount } },
  );

const rows = (lab: Lab, engine: Engine): Promise<number> => {
  const count = workflow("count", (ctx) =>
    ctx.transaction("count", (sql) => sql.all("select run from bookings").length),
  );
  return lab.drive(engine.start(count, undefined, {}).then(({ id }) => engine.result<number>(id)));
};

function policyOf(decide: (request: PolicyRequest) => PolicyVerdict) {
  const asked: PolicyRequest[] = [];
  const policy: Policy = {
    version: "1",
    decide(request) {
      if (request.step === "count") return "allow";
      asked.push(request);
      return decide(request);
    },
  };
  return { policy, asked };
}

async function events(lab: Lab, runId: string) {
  const entries = await lab.store.entries(runId, { from: 1, limit: 1_000 });
  return entries.flatMap((entry) => [...parseEntry(runId, entry).events]);
}

describe("a transaction", () => {
  it("is asked about like any step, with its arguments, and the policy's version is recorded", async () => {
    const lab = await sqliteLab();
    const { policy, asked } = policyOf(() => "allow");
    const flow = workflow("flow", (ctx) => book(ctx, 5));
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toBe(1);
    expect(asked).toMatchObject([{ step: "book", effect: "once", attempt: 1, input: { amount: 5 } }]);
    const started = (await events(lab, "r")).find(({ kind }) => kind === "step_started");
    expect(started?.meta).toMatchObject({ type: "transaction", policy: "1", args: asked[0]?.args });
    await lab.drive(engine.close());
    await lab.store.close();
  });

  it("that a policy denies writes nothing and waits; a resume asks again", async () => {
    const lab = await sqliteLab();
    let verdict: PolicyVerdict = { deny: "closed" };
    const { policy } = policyOf(() => verdict);
    const flow = workflow("flow", (ctx) => book(ctx, 5));
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting).toMatchObject([
      { kind: "policy", step: "book", detail: expect.stringContaining("closed") },
    ]);
    expect((await lab.drive(engine.plan("r"))).policy).toMatchObject([{ step: "book", verdict }]);
    verdict = "allow";
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe(1);
    await lab.drive(engine.close());
    await lab.store.close();
  });

  it("is not begun when a limit is reached, and its own usage counts", async () => {
    const lab = await sqliteLab();
    const flow = workflow("flow", async (ctx) => {
      await book(ctx, 1, () => ctx.usage({ tokens: 10 }));
      return ctx.transaction("more", () => "written");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 10 } }));
    const run = await lab.drive(engine.settled("r"));
    expect(run.usage.tokens).toBe(10);
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "more" }]);
    expect((await lab.drive(engine.plan("r"))).waits).toMatchObject([{ step: "more", for: "budget" }]);
    await lab.drive(engine.resume("r", { budget: { tokens: 20 } }));
    expect(await lab.drive(engine.result("r"))).toBe("written");
    await lab.drive(engine.close());
    await lab.store.close();
  });

  it("uses an approval up once, although somebody's write makes its function run again", async () => {
    const lab = await sqliteLab();
    const { policy, asked } = policyOf(() => ({ ask: "Book?" }));
    const desk = lab.engine([], { execute: false });
    let tries = 0;
    const written: Promise<unknown>[] = [];
    const flow = workflow("flow", async (ctx) => {
      const first = await book(ctx, 5, () => {
        // Comes in before the commit, which is then refused.
        if (++tries === 1) written.push(desk.signal("r", "mail", "hello"));
      });
      return [first, await book(ctx, 5)];
    });
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "approve:book", { choice: "approve", actor: "ada" }));
    const run = await lab.drive(engine.settled("r"));
    await lab.drive(Promise.all(written));
    expect(run.waiting).toMatchObject([{ kind: "gate", step: "approve:book#2" }]);
    expect(await rows(lab, engine)).toBe(1);
    const gates = (await events(lab, "r")).filter(
      ({ kind, step }) => kind === "step_started" && step === "approve:book",
    );
    expect(gates).toHaveLength(1);
    expect(asked.length).toBeGreaterThanOrEqual(tries);
    await lab.drive(engine.answer("r", "approve:book#2", { choice: "approve", actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toEqual([1, 2]);
    await lab.drive(engine.close());
    await lab.store.close();
  });

  it("that somebody says no to has failed, the same on every replay, and may be asked for anew", async () => {
    const lab = await sqliteLab();
    const { policy } = policyOf(() => ({ ask: "Book?" }));
    const seen: unknown[] = [];
    const flow = workflow("flow", async (ctx) => {
      try {
        return await book(ctx, 5);
      } catch (error) {
        seen.push(HoldfastError.is(error, "HF-2116"));
        await ctx.gate("after", { choices: ["throw"] });
        throw error;
      }
    });
    const engine = lab.engine([flow], { policy });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "approve:book", { choice: "deny", actor: "ada" }));
    await lab.drive(engine.settled("r"));
    const { engine: next } = await lab.afterCrash(engine, [flow], "r");
    await lab.drive(next.answer("r", "after", { choice: "throw" }));
    expect((await lab.drive(next.settled("r"))).status).toBe("failed");
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen)).toEqual(new Set([true]));
    await lab.drive(next.resume("r"));
    expect(await lab.drive(next.result("r"))).toBe(1);
    await lab.drive(next.close());
    await lab.store.close();
  });
});
