import { expect, it } from "vitest";
import { soak } from "../../lab/soak/soak.ts";

it("makes as many kills as it was asked for, whatever the lanes do at the same time (R12)", async () => {
  const { kills, problems } = await soak({ kills: 3, seed: 3 });
  expect([kills, problems]).toEqual([3, []]);
}, 120_000);
