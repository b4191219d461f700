import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { Scope } from "../access/permission.ts";
import type { Hub } from "./hub.ts";

export interface StreamOptions {
  readonly engine: Engine;
  readonly hub: Hub;
  readonly clock: Clock;
  /** The runs to follow; `null`: all. */
  readonly runs: readonly string[] | null;
  /** For named runs without `lastId`: the position to begin after. Default: where each is now. */
  readonly after?: number;
  readonly lastId: string | null;
  readonly scope: Scope | null;
}
