import { expect, it } from "vitest";
import { OwnTime } from "./own-time.ts";

it("counts the time of a step inside another one once", () => {
  const time = new OwnTime();
  const took = [
    time.of("load", 5),
    time.of("item[0]/ask", 30),
    time.of("item[0]/save", 10),
    time.of("item[0]", 45),
    // Side by side, the inner ones take longer than the one around them.
    time.of("item[1]/a", 20),
    time.of("item[1]/b", 20),
    time.of("item[1]", 22),
  ];
  expect(took).toEqual([5, 30, 10, 5, 20, 20, 0]);
});
