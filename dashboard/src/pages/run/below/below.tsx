import { TEXT } from "../../../text.ts";
import { later } from "../../../ui/later.tsx";
import { BELOW, type Below as Tab } from "../address.ts";
import type { RunAnswer } from "../head.tsx";
import type { Outline } from "../outline/tree.ts";
import { Tabs } from "../tabs.tsx";
import type { PlaceUse } from "../use-place.ts";
import { Events } from "./events.tsx";

const loading = <p className="p-4 text-soft">{TEXT.page.loading}</p>;
const Logs = later(() => import("./logs.tsx"), loading);
const Conversation = later(() => import("./conversation.tsx"), loading);
const Audit = later(() => import("./audit.tsx"), loading);
const Cost = later(() => import("./cost.tsx"), loading);

export interface BelowProps {
  readonly answer: RunAnswer;
  readonly outline: Outline | undefined;
  readonly place: PlaceUse;
}

/** What happened, who did it, what it cost, and what was said. */
export function Below({ answer: { run }, outline, place }: BelowProps) {
  const hasAgents = (outline?.agents.length ?? 0) > 0;
  const tabs = BELOW.filter((one) => one !== "conversation" || hasAgents || place.below === one);
  return (
    <div className="mt-4 rounded-lg border border-line bg-surface">
      <Tabs
        label={TEXT.run.below.label}
        tabs={tabs.map((id) => ({ id, name: TEXT.run.below[id] }))}
        current={place.below}
        onChange={(below) => place.go({ below })}
      >
        <Current
          tab={place.below}
          run={run.id}
          seq={run.seq}
          onSelect={(step) => place.go({ step, attempt: null })}
        />
      </Tabs>
    </div>
  );
}

function Current({
  tab,
  run,
  seq,
  onSelect,
}: {
  readonly tab: Tab;
  readonly run: string;
  readonly seq: number;
  readonly onSelect: (step: string) => void;
}) {
  switch (tab) {
    case "events":
      return <Events run={run} seq={seq} onSelect={onSelect} />;
    case "logs":
      return <Logs run={run} onSelect={onSelect} />;
    case "conversation":
      return <Conversation key={run} run={run} />;
    case "audit":
      return <Audit run={run} />;
    case "cost":
      return <Cost run={run} />;
  }
}
