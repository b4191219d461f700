import { expect, it } from "vitest";
import { createEngine } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { type Permission, permissionsOf, type Role } from "./access/permission.ts";
import { createApp } from "./app.ts";

function stage(role: Role, store = createMemoryStore()) {
  const engine = createEngine({ store, execute: false });
  const permissions: ReadonlySet<Permission> = permissionsOf([role]);
  const principal = { actor: "Ada", permissions, credential: "token 4x8" };
  const app = createApp({ engine, store, identify: () => principal });
  const ask = (method: string, path: string, body?: object) =>
    app.fetch(
      new Request(`http://x${path}`, {
        method,
        ...(body ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } } : {}),
      }),
    );
  return { engine, ask };
}

it("records who was refused what (S4-25, U4)", async () => {
  const { engine, ask } = stage("viewer");
  expect((await ask("PUT", "/v1/queues/mail", { limit: 3, reason: "busy" })).status).toBe(403);
  expect((await engine.audit.list()).entries[0]).toMatchObject({
    act: "access_denied",
    actor: "Ada",
    auth: "token 4x8",
    what: "mail",
    detail: { operation: "setQueue" },
  });
});

it("does no act on the store that it can't record, and says when one has failed (U4)", async () => {
  const store = createMemoryStore();
  const { engine, ask } = stage("admin", store);
  expect((await ask("DELETE", "/v1/queues/none?reason=cleanup")).status).toBeGreaterThanOrEqual(400);
  const acts = (await engine.audit.list()).entries.map(({ act }) => act);
  expect(acts).toContain("delete_queue");
  expect(acts).toContain("act_failed");
  const broken = createMemoryStore();
  const documents = broken.documents;
  if (!documents) throw new Error("it has documents");
  const failing = Object.assign(Object.create(broken) as typeof broken, {
    documents: {
      ...documents,
      write: async (batch: Parameters<typeof documents.write>[0]) => {
        if (batch.some(({ kind }) => kind === "audit.leaves")) throw new Error("the log is full");
        return documents.write(batch);
      },
    },
  });
  const other = stage("admin", failing);
  const made = await other.ask("POST", "/v1/tokens", {
    name: "ci",
    roles: ["viewer"],
    reason: "for the build",
  });
  expect([made.status, await made.text()]).toEqual([500, expect.stringContaining("HF-6000")]);
  expect(await documents.list("token", { limit: 10 })).toEqual([]);
});
