import type { ReactNode } from "react";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { useNow, When } from "../../ui/time.tsx";
import type { ActedRun } from "../run-acts.ts";

const { resolve: words } = TEXT;

/** What the journal proves about a call whose outcome is unknown. */
export function DoubtFacts({
  run,
  step,
  wait,
}: {
  readonly run: string;
  readonly step: string;
  readonly wait?: ActedRun["waiting"][number] | undefined;
}) {
  const { data: plan } = useApi("planResume", { run });
  const { data: outline } = useApi("getOutline", { run, limit: 500 });
  const now = useNow();
  const known = outline?.steps.find((one) => one.step === step);
  const treated = plan?.plan.inDoubt.find((one) => one.step === step);
  const last = known?.attempts.at(-1);
  const effect = known?.effect ?? treated?.effect;
  const facts: readonly (readonly [string, ReactNode])[] = [
    ...(last ? [[words.begun, <When key="at" at={last.startedAt} />] as const] : []),
    ...(known ? [[words.attempts, String(known.attempts.length)] as const] : []),
    ...(effect ? [[words.effectClass, words.classes[effect]] as const] : []),
    ...(known?.key === undefined ? [] : [[words.key, <code key="key">{known.key}</code>] as const]),
    ...(wait?.detail === undefined ? [] : [[words.verified, wait.detail] as const]),
    ...(known?.rerunAfter !== undefined && known.rerunAfter > now
      ? [[words.rerunFrom, <When key="rerun" at={known.rerunAfter} />] as const]
      : []),
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
