import type { Store } from "../../src/core/store/contract.ts";
import { build, effects, engineOn, type Fate, fateOf, ROUTES } from "./world.ts";

/** A store that can be restored to its initial state, and damaged. */
export interface Patient {
  readonly name: string;
  /** Creates an empty store to build on. */
  make(): Promise<Store>;
  /** Saves the current state. */
  keep(): Promise<void>;
  /** Restores the state, damages it with `damage` and opens it. */
  open(
    damage: (random: Random) => Promise<string>,
    random: Random,
  ): Promise<{ what: string; store: () => Promise<Store> }>;
  flip(random: Random): Promise<string>;
  edit(random: Random): Promise<string>;
}

/** Numbers below `n`, the same for the same seed (mulberry32). */
export type Random = (n: number) => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * n);
  };
}

export interface Verdict {
  readonly what: string;
  /** `harmless`: everything came out as if nothing had happened. `detected`: some run stopped with a code. */
  readonly kind: "harmless" | "detected" | "wrong" | "hangs" | "raw" | "unverified";
  readonly detail: string;
}

interface Expected {
  readonly fates: ReadonlyMap<string, string>;
  readonly effects: ReadonlyMap<string, number>;
}

const told = (fate: Fate): string => JSON.stringify(fate);

async function routes(store: Store): Promise<Map<string, Fate>> {
  const engine = engineOn(store);
  try {
    await fateOf(() => engine.recover());
    const fates = await Promise.all(
      Object.entries(ROUTES).map(async ([name, route]) => [name, await fateOf(() => route(engine))] as const),
    );
    const list = await fateOf(async () => (await engine.list({ limit: 50 })).runs.length);
    return new Map([...fates, ["list", list]]);
  } finally {
    await fateOf(() => engine.close({ drainMs: 0 }));
  }
}

/** True when the check of the whole store finds anything; `unopened` when it can't even be opened. */
async function verified(store: Store): Promise<Fate> {
  const engine = engineOn(store, { execute: false });
  try {
    return await fateOf(async () => (await engine.reports.verify()).ok);
  } finally {
    await fateOf(() => engine.close({ drainMs: 0 }));
  }
}

/** Builds the store, and runs it once without damage: the results are the expected ones. */
export async function expectations(
  patient: Patient,
): Promise<Expected & { built: ReadonlyMap<string, number> }> {
  const store = await patient.make();
  await build(store);
  await store.close();
  await patient.keep();
  const built = new Map(effects);
  const sound = await (await patient.open(async () => "nothing", seeded(1))).store();
  const check = await verified(sound);
  const fates = new Map([...(await routes(sound))].map(([name, fate]) => [name, told(fate)]));
  await sound.close();
  if (told(check) !== told({ kind: "result", value: true }))
    throw new Error(`a sound store does not verify: ${told(check)}`);
  return { fates, effects: new Map(effects), built };
}

export async function trial(
  patient: Patient,
  expected: Awaited<ReturnType<typeof expectations>>,
  how: "flip" | "edit",
  seed: number,
): Promise<Verdict> {
  effects.clear();
  for (const [key, count] of expected.built) effects.set(key, count);
  const random = seeded(seed);
  const { what, store: open } = await patient.open((one) => patient[how](one), random);
  const opened: { store?: Store } = {};
  const opening = await fateOf(async () => void (opened.store = await open()));
  const { store } = opened;
  if (!store) return verdict(what, opening.kind === "code" ? "detected" : badKind(opening), told(opening));
  try {
    const check = await verified(store);
    return judge(what, expected, check, await routes(store));
  } finally {
    await fateOf(() => store.close());
  }
}

const badKind = (fate: Fate): Verdict["kind"] => (fate.kind === "hangs" ? "hangs" : "raw");
const verdict = (what: string, kind: Verdict["kind"], detail: string): Verdict => ({ what, kind, detail });

function judge(what: string, expected: Expected, check: Fate, fates: ReadonlyMap<string, Fate>): Verdict {
  const others = [...fates].filter(([name, fate]) => told(fate) !== expected.fates.get(name));
  const all = (kind: Fate["kind"]): string =>
    [...others, ["verify", check] as const]
      .filter(([, fate]) => fate.kind === kind)
      .map(([name, fate]) => `${name}: ${told(fate)}`)
      .join("; ");
  const doubled = [...effects].filter(([key, count]) => count > (expected.effects.get(key) ?? 0));
  if (doubled.length > 0) return verdict(what, "wrong", `done twice: ${JSON.stringify(doubled)}`);
  if (all("hangs") !== "") return verdict(what, "hangs", all("hangs"));
  if (all("raw") !== "") return verdict(what, "raw", all("raw"));
  const wrong = others.filter(([name, fate]) => fate.kind === "result" && name !== "list");
  if (wrong.length > 0) return verdict(what, "wrong", all("result"));
  if (others.length === 0) return verdict(what, "harmless", "");
  const isFound = check.kind === "code" || (check.kind === "result" && check.value === false);
  return verdict(what, isFound ? "detected" : "unverified", all("code") + all("result"));
}
