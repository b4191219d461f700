import { expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { HoldfastError, workflow } from "../../index.ts";

it("a rejected result has its place and the fields of its causes after a crash and a resume (C4)", async () => {
  const lab = createLab();
  let calls = 0;
  const refused = (): Error =>
    Object.assign(new Error("overloaded"), {
      status: 529,
      code: "overloaded_error",
      headers: new Headers({ "request-id": "req_9", "retry-after": "1", "x-api-key": "hidden" }),
    });
  const flow = workflow("ask", (ctx) =>
    ctx.step(
      "model",
      () => {
        calls++;
        throw new Error("The model is down", { cause: refused() });
      },
      { retry: { attempts: 2, baseMs: 60_000, maxMs: 60_000 } },
    ),
  );
  const first = lab.engine([flow]);
  const { id } = await lab.drive(first.start(flow, undefined, { id: "one" }));
  await lab.clock.advance(1);
  const { engine } = await lab.afterCrash(first, [flow], id);
  const error = await engine.result(id).catch((thrown: unknown) => thrown);
  expect(calls).toBe(2);
  if (!HoldfastError.is(error)) throw error;
  expect(error.at).toMatch(/stored-failure\.test\.ts:\d+:\d+$/);
  expect(error.cause).toMatchObject({
    message: "The model is down",
    cause: {
      message: "overloaded",
      status: 529,
      code: "overloaded_error",
      headers: { "request-id": "req_9", "retry-after": "1" },
    },
  });
  expect((error.cause as Error).stack).not.toMatch(/run\/steps\.ts/);
  expect(JSON.stringify((error.cause as Error).cause)).not.toContain("hidden");
});
