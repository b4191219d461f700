import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useApi } from "../../api/use-api.ts";
import { refresh, useActOn } from "../../api/use-refresh.ts";
import { useKeys } from "../../keys.tsx";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { AllowedButton, LookOnly } from "../../ui/allowed.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Bar } from "../../ui/figures.tsx";
import { countText } from "../../ui/numbers.ts";
import { Card, Loaded, Page, Teach } from "../../ui/page.tsx";
import { type Column, RowToggle, Table } from "../../ui/table.tsx";
import { spanText } from "../../ui/time.tsx";
import { MANAGE, pauseQueue, type Queue, resumeQueue } from "./queue-acts.ts";
import { QueueDetail } from "./queue-detail.tsx";
import { QueueDialog } from "./queue-dialog.tsx";
import { RateLimits } from "./rate-limits.tsx";

const T = TEXT.queues;

/** Queues with what stands in them, and rate limits with what is used of them. */
export default function Queues() {
  const query = useApi("listQueues", {}, { refetchMs: 5_000 });
  const [isMaking, setMaking] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const queries = useQueryClient();
  const { may } = useSession();
  const act = useActOn("listQueues", "getQueue");
  const changed = (): void => refresh(queries, ["listQueues", "getQueue"]);
  const toggle = ({ name }: Queue): void => setOpen(open === name ? null : name);
  useKeys(may(MANAGE) ? [{ keys: "n", name: T.create, act: () => setMaking(true) }] : []);
  return (
    <Page
      title={TEXT.nav.queues}
      lead={T.lead}
      acts={
        <AllowedButton permission={MANAGE} look="primary" onClick={() => setMaking(true)}>
          <Plus aria-hidden className="size-4" />
          {T.create}
        </AllowedButton>
      }
    >
      <LookOnly permission={MANAGE} />
      <div className="flex flex-col gap-5">
        <Loaded query={query}>
          {({ queues }) =>
            queues.length === 0 ? (
              <Teach words={T} />
            ) : (
              <Card>
                <Table
                  label={TEXT.nav.queues}
                  rows={queues}
                  keyOf={({ name }) => name}
                  onOpen={toggle}
                  columns={columnsOf(open, toggle, act)}
                  detail={(one) =>
                    one.name === open ? <QueueDetail queue={one} onChange={changed} /> : null
                  }
                />
              </Card>
            )
          }
        </Loaded>
        <RateLimits />
      </div>
      {isMaking ? <QueueDialog onClose={() => setMaking(false)} onDone={changed} /> : null}
    </Page>
  );
}

/** A queue's limits in a few words. */
function limitsText({ concurrency, perKey, rate }: Queue): string {
  const parts = [
    ...(concurrency === undefined ? [] : [T.atOnce(concurrency)]),
    ...(perKey === undefined ? [] : [T.ofKey(perKey)]),
    ...(rate === undefined ? [] : [T.perPeriod(rate.calls, spanText(rate.periodMs ?? 60_000))]),
  ];
  return parts.length === 0 ? T.noLimit : parts.join(", ");
}

const columnsOf = (
  open: string | null,
  toggle: (one: Queue) => void,
  act: ReturnType<typeof useActOn>,
): readonly Column<Queue>[] => [
  {
    title: T.columns.name,
    grows: true,
    cell: (one) => (
      <RowToggle isOpen={one.name === open} label={T.more(one.name)} onClick={() => toggle(one)}>
        <span className="font-medium">{one.name}</span>
      </RowToggle>
    ),
  },
  {
    title: T.columns.running,
    cell: ({ running, concurrency }) => (
      <span className="inline-block min-w-24 tabular-nums">
        {T.of(running, concurrency)}
        {concurrency === undefined ? null : (
          <Bar
            part={running / concurrency}
            tone={running >= concurrency ? "waits" : "accent"}
            className="mt-1"
          />
        )}
      </span>
    ),
  },
  { title: T.columns.waiting, align: "right", cell: ({ waiting }) => countText(waiting) },
  {
    title: T.columns.limits,
    spare: "sm",
    cell: (one) => <span className="text-soft">{limitsText(one)}</span>,
  },
  {
    title: T.columns.status,
    cell: ({ paused }) => (
      <>
        <Badge tone={paused ? "waits" : "good"}>{paused ? T.paused : T.open}</Badge>
        {paused?.actor === undefined ? null : (
          <span className="mt-0.5 block max-w-56 text-[0.82rem] whitespace-normal text-soft">
            {T.pausedBy(paused.actor)}
            {paused.reason === undefined ? "" : `: ${paused.reason}`}
          </span>
        )}
      </>
    ),
  },
  {
    title: T.columns.acts,
    align: "right",
    isActs: true,
    cell: (one) => (
      <AllowedButton
        permission={MANAGE}
        small
        onClick={() => act(one.paused ? resumeQueue(one) : pauseQueue(one))}
      >
        {one.paused ? T.short.resume : T.short.pause}
      </AllowedButton>
    ),
  },
];
