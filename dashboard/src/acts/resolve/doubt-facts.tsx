import type { ReactNode } from "react";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { useNow, When } from "../../ui/time.tsx";

const { resolve: words } = TEXT;

/** What the journal proves about a call whose outcome is unknown. */
export function DoubtFacts({ run, step }: { readonly run: string; readonly step: string }) {
  const now = useNow();
  const { data: known } = useApi("getStep", { run, step });
  if (!known) return null;
  const last = known.attempts.at(-1);
  const facts: readonly (readonly [string, ReactNode])[] = [
    ...(last ? [[words.begun, <When key="at" at={last.startedAt} />] as const] : []),
    [words.attempts, String(known.attempts.length)],
    [words.effectClass, words.classes[known.effect]],
    ...(known.key === undefined ? [] : [[words.key, <code key="key">{known.key}</code>] as const]),
    [words.verified, words.notVerified],
    ...(known.rerunAfter !== undefined && known.rerunAfter > now
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
