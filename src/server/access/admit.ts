import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Declared } from "../contract/declare.ts";
import { type Named, recordDenial } from "./audited.ts";
import { decide, type Principal, type Subject } from "./permission.ts";

type Params = Readonly<Record<string, string>>;
type Guarded = Named & Pick<Declared, "permission" | "about">;

/** Lets a caller do something, or refuses it and records that. */
export async function admit(
  engine: Engine,
  operation: Guarded,
  principal: Principal,
  params: Params,
): Promise<void> {
  try {
    await check(engine, operation, principal, params);
  } catch (error) {
    await recordDenial(engine.audit, operation, principal, params, error);
  }
}

async function check(
  engine: Engine,
  { permission, about }: Guarded,
  principal: Principal,
  { run = "" }: Params,
): Promise<void> {
  let subject: Subject = about === "store" ? "store" : "list";
  if (about === "run" && principal.scope) {
    const row = await engine.get(run);
    if (!row) throw new HoldfastError("HF-1001", { run });
    subject = { run: row };
  }
  const verdict = decide(principal, permission, subject);
  if (verdict === "unknown") throw new HoldfastError("HF-1001", { run });
  if (verdict === "forbidden") throw new HoldfastError("HF-6051", { actor: principal.actor, permission });
}
