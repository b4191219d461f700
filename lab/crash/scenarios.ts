import type { Context, StepCall, StepOptions, Workflow, WorkflowBody } from "../../src/core/context.ts";
import type { AsyncSqlHandle } from "../../src/core/sql.ts";
import type { Effect } from "../../src/core/types.ts";
import { workflow } from "../../src/core/workflow.ts";
import type { WitnessClient } from "../../src/testing/witness/witness.ts";
import { deedOf, migrationsOf, nameIn, type ScenarioVersion } from "./names.ts";

/** The workflows of the crash tests. Each of their steps reports to the witness; none depends on chance or time. */
export const scenarioNames = [
  "sequence",
  "group",
  "loop",
  "gates",
  "retries",
  "family",
  "ledger",
  "undo",
] as const;

export type ScenarioName = (typeof scenarioNames)[number];

export interface Scenarios {
  readonly main: Readonly<Record<ScenarioName, Workflow<ScenarioInput, unknown>>>;
  /** All of them, children included. */
  readonly workflows: readonly Workflow<never, unknown>[];
}

export interface ScenarioInput {
  readonly order: string;
}

interface ActOptions extends Pick<StepOptions<string>, "retry" | "verify" | "compensate"> {
  readonly refuse?: number;
}

export interface ScenarioOptions {
  /** Default "1". */
  readonly version?: ScenarioVersion | undefined;
  /** Part of the arguments of `mail`: another salt makes another call. */
  readonly salt?: string | undefined;
  /** The ledger's table, and whether the store is asynchronous. Default: its table `ledger`, synchronous. */
  readonly ledger?: Ledger | undefined;
}

export interface Ledger {
  readonly table: string;
  readonly async: boolean;
}

/** `onCall` is called before every call. */
export function createScenarios(
  witness: WitnessClient,
  onCall: (call: StepCall) => void,
  { version = "1", salt, ledger = { table: "ledger", async: false } }: ScenarioOptions = {},
): Scenarios {
  const tell = (call: StepCall, effect: Effect, args: unknown, refuse = 0): Promise<string> => {
    onCall(call);
    return witness.call(call, { effect, args, refuse, deed: deedOf(call.step) });
  };
  const act = (
    ctx: Context,
    name: string,
    effect: Effect,
    args: unknown,
    more: ActOptions = {},
  ): Promise<string> => {
    const { refuse, ...options } = more;
    const step = nameIn(version, name);
    return ctx.step(step, (call) => tell(call, effect, args, refuse), { ...options, effect, input: args });
  };
  const world: World = {
    define: (name, body) => workflow(name, { version, migrations: migrationsOf(name) }, body),
    named: (name) => nameIn(version, name),
    salted: (args) => (salt === undefined ? args : [args, salt]),
    ledger,
    act,
    undoable: (ctx, name, effect, args) =>
      act(ctx, name, effect, args, { compensate: (value, call) => tell(call, effect, { undo: value }) }),
    verify: async (call) => {
      const value = await witness.seen(call.runId, deedOf(call.step));
      return value === null ? { status: "not-done" } : { status: "done", value };
    },
  };
  const family = familyOf(world);
  const main = {
    sequence: sequenceOf(world),
    group: groupOf(world),
    loop: loopOf(world),
    gates: gatesOf(world),
    retries: retriesOf(world),
    family: family.root,
    ledger: ledgerOf(world),
    undo: undoOf(world),
  };
  return { main, workflows: [...Object.values(main), ...family.descendants] };
}

/** The same scenarios with another `sequence`. */
export function withSequence(
  { main, workflows }: Scenarios,
  sequence: Scenarios["main"]["sequence"],
): Scenarios {
  const others = workflows.filter(({ name }) => name !== sequence.name);
  return { main: { ...main, sequence }, workflows: [...others, sequence] };
}

interface World {
  readonly define: <O>(name: string, body: WorkflowBody<ScenarioInput, O>) => Workflow<ScenarioInput, O>;
  /** This version's name for a step. */
  readonly named: (name: string) => string;
  readonly salted: (args: unknown) => unknown;
  readonly ledger: Ledger;
  readonly act: (
    ctx: Context,
    name: string,
    effect: Effect,
    args: unknown,
    options?: ActOptions,
  ) => Promise<string>;
  readonly undoable: (ctx: Context, name: string, effect: Effect, args: unknown) => Promise<string>;
  readonly verify: NonNullable<StepOptions<string>["verify"]>;
}

const sequenceOf = ({ act, verify, define, salted }: World) =>
  define("sequence", async (ctx, { order }) => {
    const loaded = await act(ctx, "load", "repeatable", order);
    const charged = await act(ctx, "charge", "keyed", { order, loaded });
    const mailed = await act(ctx, "mail", "once", salted(charged));
    const booked = await act(ctx, "book", "once", mailed, { verify });
    const filed = await act(ctx, "file", "repeatable", booked);
    return { loaded, charged, mailed, booked, filed };
  });

const EFFECTS: readonly Effect[] = ["repeatable", "keyed", "once"];
const effectOf = (index: number): Effect => EFFECTS[index % EFFECTS.length] as Effect;

const groupOf = ({ act, define }: World) =>
  define("group", async (ctx, { order }) => {
    const items = [0, 1, 2, 3, 4, 5];
    const matched = await ctx.each(
      "match",
      items,
      (item) => act(ctx, "ask", effectOf(item), { order, item }),
      {
        concurrency: 3,
      },
    );
    const branches = await ctx.all("side", {
      left: async () => [await act(ctx, "one", "keyed", order), await act(ctx, "two", "once", order)],
      right: () => act(ctx, "three", "repeatable", matched),
    });
    return { matched, branches };
  });

const ITERATIONS = 30;

/** Short enough to stay out of the blobs, so that the journal's tail grows large enough to trigger a snapshot. */
const PADDING = "holdfast ".repeat(100);

const loopOf = ({ act, define }: World) =>
  define("loop", async (ctx, { order }) => {
    const initial: { seen: string[]; text: string[] } = { seen: [], text: [] };
    const state = await ctx.loop("turn", initial, async (draft, turn) => {
      const answer = await act(ctx, "ask", effectOf(turn.index), {
        order,
        index: turn.index,
        last: ctx.memory.get("last"),
      });
      ctx.memory.set("last", answer);
      // Reads messages sent to the run in the meantime; they change nothing.
      if (turn.index % 5 === 0) for (const { payload } of await ctx.inbox()) ctx.memory.set("heard", payload);
      ctx.usage({ tokens: 10, costUsd: 0.001 });
      draft.seen.push(answer);
      // Much changes and little is kept, so that snapshots are frequent and retention has old ones to drop.
      draft.text = Array.from({ length: 4 }, (_, line) => `${turn.index}.${line} ${PADDING}`);
      return turn.index + 1 === ITERATIONS ? turn.done() : undefined;
    });
    return { seen: state.seen, text: state.text.map((one) => one.length), last: ctx.memory.get("last") };
  });

const SLEEP_MS = 40;

const gatesOf = ({ act, define, named }: World) =>
  define("gates", async (ctx, { order }) => {
    const prepared = await act(ctx, "prepare", "keyed", order);
    const { choice } = await ctx.gate(named("approve"), { show: prepared, choices: ["yes", "no"] });
    const go = await ctx.signal<string>("go");
    await ctx.sleep("pause", SLEEP_MS);
    const finished = await act(ctx, "finish", "once", { choice, go: go.payload });
    return { prepared, choice, go: go.payload, finished };
  });

const QUICKLY = { attempts: 6, baseMs: 10, maxMs: 20 };

const retriesOf = ({ act, define }: World) =>
  define("retries", async (ctx, { order }) => {
    const read = await act(ctx, "read", "repeatable", order, { refuse: 2, retry: QUICKLY });
    const paid = await act(ctx, "pay", "keyed", read, { refuse: 2, retry: QUICKLY });
    const sent = await act(ctx, "send", "once", paid, { refuse: 1, retry: QUICKLY });
    return { read, paid, sent };
  });

function familyOf({ act, define, named }: World): {
  root: Workflow<ScenarioInput, unknown>;
  descendants: readonly Workflow<never, unknown>[];
} {
  const tool = define("family-tool", async (ctx, { order }) => {
    const used = await act(ctx, "use", "once", order);
    return { used, noted: await act(ctx, "note", "keyed", used) };
  });
  const agent = define("family-agent", async (ctx, { order }) => {
    const planned = await act(ctx, "plan", "repeatable", order);
    const made = await ctx.child(named("tool"), tool, { order: planned });
    return { planned, made };
  });
  const team = define("family-team", async (ctx, { order }) => {
    const [first, second] = await Promise.all([
      ctx.child("first", agent, { order: `${order} 1` }),
      ctx.child("second", agent, { order: `${order} 2` }),
    ]);
    return { first, second, merged: await act(ctx, "merge", "keyed", [first, second]) };
  });
  const root = define("family", async (ctx, { order }) => {
    const opened = await act(ctx, "open", "keyed", order);
    const result = await ctx.child(named("team"), team, { order });
    return { opened, result, closed: await act(ctx, "close", "once", opened) };
  });
  return { root, descendants: [team, agent, tool] };
}

const COLUMNS = "(run text not null, step text not null, amount integer not null)";

const ledgerOf = ({ act, define, ledger }: World) =>
  define("ledger", async (ctx, { order }) => {
    const enter = ledger.async ? enterLater(ctx, ledger.table) : enterNow(ctx, ledger.table);
    const totals = [await enter("open", 100)];
    const quoted = await act(ctx, "quote", "repeatable", order);
    for (const amount of [5, 7, 11]) totals.push(await enter(`entry ${amount}`, amount));
    const sent = await act(ctx, "send", "once", totals);
    return { totals, quoted, sent, closing: await enter("close", 1) };
  });

/** Returns the sum of this entry only: a fork's other entries belong to its source. */
type Enter = (name: string, amount: number) => Promise<number>;

const enterNow =
  (ctx: Context, table: string): Enter =>
  (name, amount) =>
    ctx.transaction(name, (sql) => {
      sql.run(`create table if not exists ${table} ${COLUMNS}`);
      sql.run(`insert into ${table} (run, step, amount) values (?, ?, ?)`, ctx.runId, name, amount);
      const sum = `select sum(amount) as s from ${table} where run = ? and step = ?`;
      return Number(sql.all(sum, ctx.runId, name)[0]?.["s"]);
    });

const enterLater =
  (ctx: Context, table: string): Enter =>
  (name, amount) =>
    ctx.transaction(name, async (sql: AsyncSqlHandle) => {
      // Creating the same table concurrently fails even with IF NOT EXISTS.
      await sql.all("select 1 from (select pg_advisory_xact_lock(1)) as locked");
      await sql.run(`create table if not exists ${table} ${COLUMNS}`);
      await sql.run(`insert into ${table} (run, step, amount) values ($1, $2, $3)`, ctx.runId, name, amount);
      const sum = `select sum(amount) as s from ${table} where run = $1 and step = $2`;
      return Number((await sql.all(sum, ctx.runId, name))[0]?.["s"]);
    });

const undoOf = ({ act, undoable, define }: World) =>
  define("undo", async (ctx, { order }) => {
    const reserved = await undoable(ctx, "reserve", "keyed", order);
    const noted = await act(ctx, "note", "repeatable", reserved);
    const paid = await undoable(ctx, "pay", "once", noted);
    await undoable(ctx, "ship", "repeatable", paid);
    await ctx.signal("stop");
    return { reserved, noted, paid };
  });
