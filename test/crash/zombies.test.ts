import { expect, it } from "vitest";
import { zombieRounds } from "../../lab/crash/zombies.ts";

it("a worker that was frozen past its claim writes nothing after it wakes up (S1-42)", async () => {
  const { problems, refused } = await zombieRounds({ rounds: 10 });
  expect(problems).toEqual([]);
  expect(refused).toBeGreaterThan(0);
});
