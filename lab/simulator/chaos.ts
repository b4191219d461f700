import type { StoreFault } from "../../src/testing/faulty-store.ts";
import type { Operator } from "./operator.ts";
import { CLAIM_MS, type SimulatedWorker, type World } from "./world.ts";

const HOUR_MS = 3_600_000;

/** Draws the kinds of faults from the seed: some simulations are only slow, some only crash, some have everything. */
export function startWeather(world: World): void {
  const { random } = world;
  const fail = random.pick([0, 0, 0.02, 0.06]);
  const lost = random.pick([0, 0, 0.02, 0.06]);
  const late = world.without.has("late-writes") ? 0 : random.pick([0, 0, 0.02, 0.06]);
  const slow = random.pick([0, 0, 0.03, 0.1]);
  const latency = random.pick([0, 0.3, 1]);
  world.shortage = world.without.has("memory-shortage") ? 0 : random.pick([0, 0.1, 0.4]);
  const outages = random.chance(0.2) ? [world.clock.monotonic() + random.int(0, 10_000)] : [];
  world.weather = (method): StoreFault | undefined => {
    const now = world.clock.monotonic();
    if (outages.some((at) => now >= at && now < at + 2 * CLAIM_MS))
      return counted("outage", { kind: "fail" });
    if (random.chance(fail)) return counted("failed call", { kind: "fail" });
    const isWrite = method === "append" || method === "transaction" || method === "renew";
    if (isWrite && random.chance(lost)) return counted("lost acknowledgement", { kind: "fail-after" });
    if (isWrite && random.chance(late)) return counted("late write", { kind: "fail-late" });
    const kind = random.chance(0.5) ? "delay" : "delay-after";
    if (random.chance(slow)) return counted("slow call", { kind, ms: random.int(100, 2 * CLAIM_MS) });
    return random.chance(latency) ? { kind, ms: random.int(1, 12) } : undefined;
  };
  const counted = (name: string, fault: StoreFault): StoreFault => {
    world.count(name);
    return fault;
  };
}

/** Draws the faults and their times, and the acts of people. */
export function scheduleChaos(world: World, operator: Operator, chaosMs: number): void {
  const { random, clock, without } = world;
  const cancels = random.chance(0.4) && !without.has("cancels");
  for (let left = random.int(0, 8); left > 0; left--) {
    const strike = random.pick(STRIKES);
    clock.setTimer(() => strike(world), random.int(0, chaosMs));
  }
  for (let left = random.int(0, 16); left > 0; left--) {
    clock.setTimer(() => void operator.actAtRandom(cancels), random.int(0, chaosMs));
  }
}

/** Ends all faults: clocks are corrected, frozen processes thaw, and nothing more is planned. */
export function heal(world: World): void {
  world.weather = null;
  world.shortage = 0;
  world.storeSkewMs = 0;
  for (const worker of world.living) {
    worker.trap = null;
    worker.probe = null;
    worker.machine.skewMs = 0;
    worker.machine.thaw();
  }
}

type Strike = (world: World) => void;

function withVictim(name: string, strike: (worker: SimulatedWorker, world: World) => void): Strike {
  return (world) => {
    const { living, random } = world;
    if (living.length === 0) return;
    world.count(name);
    strike(random.pick(living), world);
  };
}

function replace(world: World): void {
  world.clock.setTimer(() => world.spawn(), world.random.int(0, 2 * CLAIM_MS));
}

function freeze({ machine }: SimulatedWorker, world: World): void {
  machine.freeze();
  world.clock.setTimer(() => machine.thaw(), world.random.int(CLAIM_MS / 2, 3 * CLAIM_MS));
}

function skew(world: World): number {
  const ms = world.random.pick([-3, -1, 1, 3]) * HOUR_MS;
  return world.without.has("clock-jumps") ? 0 : ms;
}

const STRIKES: readonly Strike[] = [
  withVictim("crash", ({ machine }, world) => {
    machine.kill();
    replace(world);
  }),
  withVictim("crash at a write", (worker, world) => {
    worker.trap = world.random.pick(["before", "after"]);
    replace(world);
  }),
  withVictim("crash at a probe", (worker, world) => {
    worker.probe = { left: world.random.int(1, 12), strike: () => worker.machine.kill() };
    replace(world);
  }),
  withVictim("freeze", freeze),
  withVictim("freeze at a probe", (worker, world) => {
    worker.probe = { left: world.random.int(1, 12), strike: () => freeze(worker, world) };
  }),
  withVictim("clock jump of a worker", ({ machine }, world) => {
    machine.skewMs += skew(world);
  }),
  (world) => {
    world.count("clock jump of the store");
    world.storeSkewMs += skew(world);
  },
  withVictim("restart in good order", (worker, world) => {
    void worker.engine.close({ drainMs: 1_000 });
    world.clock.setTimer(() => worker.machine.kill(), 1_500);
    replace(world);
  }),
];
