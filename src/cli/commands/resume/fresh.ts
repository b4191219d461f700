import { defined } from "../../../core/defined.ts";
import { HoldfastError } from "../../../core/errors.ts";
import type { EffectAudit } from "../../../core/manage/restart/audit.ts";
import { freshId } from "../../../core/manage/restart/restarts.ts";
import type { Store } from "../../../core/store/contract.ts";
import type { RunRow } from "../../../core/types.ts";
import type { CommandContext } from "../../context.ts";
import { drive } from "../../drive/drive.ts";
import { ending } from "../../drive/ending.ts";
import { engineFor } from "../../drive/ready.ts";
import { columns, plural } from "../../format.ts";
import { usage } from "../../globals.ts";
import type { Outcome } from "../../outcome.ts";
import { iso } from "../../view/run-rows.ts";

interface Options {
  readonly plan: boolean;
  readonly file: string | undefined;
}

/** `resume <run> --fresh`: starts a run again that can't be restored, after listing what could happen twice. */
export async function startFresh(
  context: CommandContext<Options>,
  store: Store,
  run: RunRow,
): Promise<Outcome> {
  const { file, plan } = context.options;
  const audit = await (await context.engine()).restarts.audit(run.id);
  if (plan) return { data: { audit }, text: auditText(audit), next: [`resume ${run.id} --fresh`] };
  const code = await context.codeOf(run, defined({ file, changed: true })).catch((error: unknown) => {
    if (!HoldfastError.is(error, "HF-3010")) throw error;
    throw usage(
      "the file with the code is missing",
      `The journal of ${run.id} is damaged, so the file that it names can't be relied on.`,
      `holdfast resume ${run.id} --fresh --file <file>`,
    );
  });
  const act = await context.act("start over");
  if (!context.out.isJson) context.out.say(auditText(audit));
  const risks = audit.effects.length;
  if (risks > 0 || !audit.complete)
    await context.confirm(`start ${run.id} over`, `${plural(risks, "effect")} may happen twice`);
  const id = freshId(run.id);
  const engine = await engineFor(context, { store, code, runId: id, act });
  await engine.restarts.start(run.id, { id, ...act });
  const driven = await drive(context, { engine, store, runId: id, act });
  const outcome = await ending(context, engine, driven, { code });
  return { ...outcome, data: { ...(outcome.data as object), restartOf: run.id, audit } };
}

function auditText({ run, effects, complete }: EffectAudit): string {
  const missing = complete ? [] : ["! part of its journal can't be read, so there may be more"];
  if (effects.length === 0) return [`No effect of ${run} could happen twice.`, ...missing].join("\n");
  const rows = effects.map((one) => [
    one.what === "happened" ? "✓" : "?",
    one.run === run ? one.step : `${one.run}:${one.step}`,
    one.effect,
    one.what,
    iso(one.at),
  ]);
  return [`Effects of ${run} that a new run could repeat:`, ...columns(rows), ...missing].join("\n");
}
