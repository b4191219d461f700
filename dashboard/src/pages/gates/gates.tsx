import { useState } from "react";
import { useLocation, useSearch } from "wouter";
import type { AnswerOf } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { useKeys } from "../../keys.tsx";
import { TEXT } from "../../text.ts";
import { CommandLine } from "../../ui/copy.tsx";
import { Empty, Loaded, Page } from "../../ui/page.tsx";
import { GateDetail } from "./gate-detail.tsx";
import { GateList } from "./gate-list.tsx";

export type ListedGate = AnswerOf<"listGates">["gates"][number];

const { gates: words } = TEXT;

export const nameOf = ({ runId, gate }: Pick<ListedGate, "runId" | "gate">): string => `${runId}:${gate}`;

/** The decisions that runs wait for, and one of them to answer. */
export default function Gates() {
  const query = useApi("listGates", { limit: 200 }, { refetchMs: 15_000 });
  return (
    <Page title={TEXT.nav.gates} lead={words.lead}>
      <Loaded query={query}>{({ gates }) => <Inbox gates={gates} />}</Loaded>
    </Page>
  );
}

function Inbox({ gates: given }: { readonly gates: readonly ListedGate[] }) {
  // The longest wait first, and an answered one stays where it is until somebody leaves it.
  const gates = given.toSorted((a, b) => a.since - b.since);
  const [path, go] = useLocation();
  const named = new URLSearchParams(useSearch()).get("gate");
  const [last, setLast] = useState<ListedGate | null>(null);
  const found = gates.find((gate) => nameOf(gate) === named) ?? (named === null ? gates[0] : undefined);
  const chosen = found ?? (last && nameOf(last) === named ? last : undefined);
  if (found && (last === null || nameOf(last) !== nameOf(found))) setLast(found);
  const choose = (gate: ListedGate | undefined): void => {
    if (gate) go(`${path}?gate=${encodeURIComponent(nameOf(gate))}`, { replace: true });
  };
  const step = (by: number): void => {
    const at = chosen ? gates.findIndex((gate) => nameOf(gate) === nameOf(chosen)) : -1;
    choose(gates[Math.min(gates.length - 1, Math.max(0, at + by))]);
  };
  useKeys([
    { keys: "j", name: words.next, act: () => step(1) },
    { keys: "k", name: words.previous, act: () => step(-1) },
  ]);
  if (gates.length === 0 && !chosen)
    return (
      <Empty title={words.none}>
        <p>{words.noneNote}</p>
        <div className="mt-3 text-left">
          <CommandLine command={words.noneCommand} />
        </div>
      </Empty>
    );
  return (
    <div className="grid gap-5 lg:grid-cols-[minmax(17rem,24rem)_minmax(0,1fr)]">
      <GateList gates={gates} chosen={chosen} onChoose={choose} />
      {chosen ? (
        <GateDetail
          key={nameOf(chosen)}
          gate={chosen}
          onNext={() => choose(gates.find((gate) => nameOf(gate) !== nameOf(chosen)))}
        />
      ) : (
        <p className="text-soft">{words.gone}</p>
      )}
    </div>
  );
}
