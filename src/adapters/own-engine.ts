import { badOption } from "../core/check-options.ts";
import { createEngine, type Engine } from "../core/engine/engine.ts";
import { OutsideRuns } from "../core/manage/outside/outside.ts";
import type { Store } from "../core/store/contract.ts";

/** The engine that was given, or one of its own on the store that was given. */
export function ownEngine(target: Store | Engine): { readonly engine: Engine; readonly owned: boolean } {
  if ("outside" in target && target.outside instanceof OutsideRuns) return { engine: target, owned: false };
  if (!("append" in target)) throw badOption("store", "give a store or an engine");
  return { engine: createEngine({ store: target, execute: false, retention: "forever" }), owned: true };
}
