import { afterAll, describe, expect, it } from "vitest";
import { crashMatrix } from "../../lab/crash/matrix.ts";
import { zombieRounds } from "../../lab/crash/zombies.ts";
import { copiedPgliteKind, fileKind, type StoreKind } from "../../src/testing/store-kinds.ts";
import { sampled } from "../support/exhaustive.ts";
import { type Servers, startServers } from "./servers.ts";

const servers = (await startServers()) as Servers;
afterAll(() => servers?.close());

async function killed(store: StoreKind, limit: number): Promise<void> {
  const { problems, ...figures } = await crashMatrix({ scenario: "sequence", limit, store });
  const { cases, possible, kills, missed, seconds } = figures;
  console.log(
    `${store.name}: ${cases} of ${possible} cases, ${kills} kills, ${missed} missed, ${seconds.toFixed(1)} s`,
  );
  expect(problems).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(cases / 2);
}

describe("a worker process killed at any place", () => {
  it("leaves files to end as if nothing had happened", () => killed(fileKind, sampled(6)));

  it("leaves PGlite to end as if nothing had happened (S2-01)", async () => {
    const kind = await copiedPgliteKind();
    await killed(kind, sampled(2));
    await kind.close();
  });

  describe.skipIf(!servers)("with a server", () => {
    it.each(["postgres", "redis", "tiered"] as const)(
      "leaves %s to end as if nothing had happened (S3-31)",
      (name) => killed(servers.kinds[name], sampled(4)),
    );
  });
});

describe.skipIf(!servers)("a worker that was frozen past its claim", () => {
  const strike = { write: 2, side: "before", claimed: true } as const;
  const freezes = [{ scenario: "sequence", strike }] as const;

  it.each(["postgres", "redis", "tiered"] as const)(
    "writes nothing to %s after it wakes up",
    async (name) => {
      const { problems, refused } = await zombieRounds({ rounds: 1, freezes, store: servers.kinds[name] });
      expect(problems).toEqual([]);
      expect(refused).toBeGreaterThan(0);
    },
  );
});

it("a store of one process is not given to two", async () => {
  await expect(zombieRounds({ rounds: 1, store: fileKind })).rejects.toThrow("one process at a time");
});
