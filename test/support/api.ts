import { type Client, createClient } from "../../src/client/index.ts";
import type { Engine, EngineOptions, Store, Workflow } from "../../src/index.ts";
import { PERMISSIONS, type Permission } from "../../src/server/access/permission.ts";
import { type App, type AppOptions, createApp } from "../../src/server/app.ts";
import { createLab, type Lab } from "./lab.ts";

/** An app on a lab's store, with callers whose token is their name and permissions: `ada` may do everything. */
export interface ApiStage {
  readonly lab: Lab;
  readonly engine: Engine;
  readonly app: App;
  readonly client: Client;
  /** A client of somebody who has only these permissions. */
  as(actor: string, ...permissions: readonly Permission[]): Client;
  /** Sends a plain request as `ada`. */
  send(method: string, path: string, options?: Sent): Promise<Response>;
}

interface Sent {
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ORIGIN = "http://api.test";

interface StageOptions {
  readonly store?: Store;
  readonly engine?: Partial<Omit<EngineOptions, "store" | "clock" | "workflows">>;
  readonly app?: Partial<AppOptions>;
}

export function createApiStage(
  workflows: readonly Workflow<never, unknown>[],
  options: StageOptions = {},
): ApiStage {
  const lab = createLab(options.store);
  const engine = lab.engine(workflows, options.engine);
  const app = createApp({
    engine,
    store: lab.store,
    identify: principalOf,
    clock: lab.clock,
    ...options.app,
  });
  const fetch = (request: Request): Promise<Response> => lab.drive(app.fetch(request));
  const as = (actor: string, ...permissions: readonly Permission[]): Client =>
    createClient({ url: ORIGIN, token: [actor, ...permissions].join(" "), fetch });
  return {
    lab,
    engine,
    app,
    as,
    client: as("ada", ...PERMISSIONS),
    async send(method, path, { body, headers = {} } = {}) {
      const all = new Headers({ authorization: `Bearer ${["ada", ...PERMISSIONS].join(" ")}`, ...headers });
      const given: RequestInit = { method, headers: all };
      if (body !== undefined) given.body = typeof body === "string" ? body : JSON.stringify(body);
      if (body !== undefined && !all.has("content-type")) all.set("content-type", "application/json");
      return fetch(new Request(`${ORIGIN}${path}`, given));
    },
  };
}

function principalOf(request: Request) {
  const [kind, actor, ...permissions] = (request.headers.get("authorization") ?? "").split(" ");
  if (kind !== "Bearer" || !actor) return null;
  return { actor, permissions: new Set(permissions.filter(isPermission)) };
}

const isPermission = (text: string): text is Permission => PERMISSIONS.some((one) => one === text);
