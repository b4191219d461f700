import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { type OutageReport, outages } from "../../lab/crash/outages.ts";
import { cutsOf, strikesOf } from "../../lab/soak/strikes.ts";
import { sampled } from "../support/exhaustive.ts";
import { type Servers, startServers } from "./servers.ts";

const servers = (await startServers()) as Servers;
afterAll(() => servers?.close());

/** More of them on request; `npm run soak` has flags for it too. */
const CUTS = sampled(20, 200);
const OUTAGES = sampled(2, 20);

function hold({ problems, strikes, runs, calls, recoveries, seconds }: OutageReport): void {
  console.log(
    `${strikes} strikes, ${runs} runs, ${calls} calls, ${recoveries} takeovers, ${seconds.toFixed(1)} s`,
  );
  expect(problems).toEqual([]);
  expect(runs).toBeGreaterThan(0);
}

describe.skipIf(!servers)("a connection that is cut right before or right after a commit", () => {
  it("leaves no doubt about the commit: nothing is lost and nothing is done twice", async () => {
    const { way, close } = await cutsOf(servers);
    hold(await outages({ store: servers.kinds.postgres, times: CUTS, every: 3, ...way }));
    await close();
  });

  it("is found out by the harness where a commit is guessed", async () => {
    const { way, close } = await cutsOf(servers);
    const script = childScript("test/crash/broken/guesses-commits");
    const spawn = { script };
    const store = servers.kinds.postgres;
    // It doesn't survive the first cut that hits one of its own writes; a commit of a transaction it can't guess.
    const strike = () => way.strike(2);
    const { problems } = await outages({ store, times: 50, every: 3, ...way, strike, spawn });
    await close();
    expect(problems.map(({ rule }) => rule)).toContain("I2");
  });
});

describe.skipIf(!servers)("a server that is killed while a worker goes on", () => {
  it("makes no difference to the runs in PostgreSQL", async () => {
    const { postgres } = servers;
    const store = servers.kinds.postgres;
    hold(await outages({ store, times: OUTAGES, ...strikesOf({ kind: store, postgres }) }));
  });

  it("makes no difference to the runs in Redis", async () => {
    const { redis } = servers;
    const store = servers.kinds.redis;
    hold(await outages({ store, times: OUTAGES, ...strikesOf({ kind: store, redis }) }));
  });

  it("makes no difference where Redis holds copies and is emptied besides", async () => {
    const { postgres, redis } = servers;
    const store = servers.kinds.tiered;
    hold(await outages({ store, times: 4 + OUTAGES, ...strikesOf({ kind: store, postgres, redis }) }));
    // The last fault may have left it down.
    await redis.stop();
  });
});
