import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { refresh, useActOn } from "../../api/use-refresh.ts";
import { useKeys } from "../../keys.tsx";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { AllowedButton, LookOnly } from "../../ui/allowed.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Card, Loaded, Page, Teach } from "../../ui/page.tsx";
import { type Column, RowToggle, Table } from "../../ui/table.tsx";
import { When } from "../../ui/time.tsx";
import { zonedText } from "../../ui/zoned.tsx";
import { writeSpan } from "../spans.ts";
import { MANAGE, pauseSchedule, resumeSchedule, type Schedule } from "./schedule-acts.ts";
import { ScheduleDetail } from "./schedule-detail.tsx";
import { ScheduleDialog } from "./schedule-dialog.tsx";

const T = TEXT.schedules;
const TONES = { active: "good", paused: "waits", ended: "calm" } as const;

/** All schedules: when they tick, what became of their last ticks, and everything that can be done about them. */
export default function Schedules() {
  const query = useApi("listSchedules", {}, { refetchMs: 5_000 });
  const [isMaking, setMaking] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const queries = useQueryClient();
  const { may } = useSession();
  const act = useActOn("listSchedules", "getSchedule");
  const changed = (): void => refresh(queries, ["listSchedules", "getSchedule", "listRuns"]);
  useKeys(may(MANAGE) ? [{ keys: "n", name: T.create, act: () => setMaking(true) }] : []);
  const toggle = ({ name }: Schedule): void => setOpen(open === name ? null : name);
  return (
    <Page
      title={TEXT.nav.schedules}
      lead={T.lead}
      acts={
        <AllowedButton permission={MANAGE} look="primary" onClick={() => setMaking(true)}>
          <Plus aria-hidden className="size-4" />
          {T.create}
        </AllowedButton>
      }
    >
      <LookOnly permission={MANAGE} />
      <Loaded query={query}>
        {({ schedules }) =>
          schedules.length === 0 ? (
            <Teach words={T} />
          ) : (
            <Card>
              <Table
                label={TEXT.nav.schedules}
                rows={schedules}
                keyOf={({ name }) => name}
                onOpen={toggle}
                columns={columnsOf(open, toggle, act)}
                detail={(one) =>
                  one.name === open ? <ScheduleDetail schedule={one} onChange={changed} /> : null
                }
              />
            </Card>
          )
        }
      </Loaded>
      {isMaking ? <ScheduleDialog onClose={() => setMaking(false)} onDone={changed} /> : null}
    </Page>
  );
}

function columnsOf(
  open: string | null,
  toggle: (one: Schedule) => void,
  act: ReturnType<typeof useActOn>,
): readonly Column<Schedule>[] {
  return [
    {
      title: T.columns.name,
      grows: true,
      cell: (one) => (
        <RowToggle isOpen={one.name === open} label={T.more(one.name)} onClick={() => toggle(one)}>
          <span>
            <span className="font-medium">{one.name}</span>
            <span className="block text-[0.87rem] text-soft">
              {one.definition.workflow}
              {one.isDeclared ? ` · ${T.declared}` : ""}
            </span>
          </span>
        </RowToggle>
      ),
    },
    { title: T.columns.when, spare: "md", cell: (one) => <Timing schedule={one} /> },
    { title: T.columns.next, cell: (one) => <NextTick schedule={one} /> },
    { title: T.columns.last, spare: "sm", cell: (one) => <LastTicks schedule={one} /> },
    { title: T.columns.policy, spare: "lg", cell: (one) => T.overlap[one.definition.overlap] },
    {
      title: T.columns.status,
      cell: (one) => (
        <>
          <Badge tone={TONES[one.status]}>{T.status[one.status]}</Badge>
          {one.paused?.actor === undefined ? null : (
            <span className="mt-0.5 block max-w-56 text-[0.82rem] whitespace-normal text-soft">
              {T.pausedBy(one.paused.actor)}
              {one.paused.reason === undefined ? "" : `: ${one.paused.reason}`}
            </span>
          )}
        </>
      ),
    },
    {
      title: T.columns.acts,
      align: "right",
      isActs: true,
      cell: (one) =>
        one.status === "ended" ? null : (
          <AllowedButton
            permission={MANAGE}
            small
            onClick={() => act(one.paused ? resumeSchedule(one) : pauseSchedule(one))}
          >
            {one.paused ? T.short.resume : T.short.pause}
          </AllowedButton>
        ),
    },
  ];
}

function Timing({ schedule: { definition } }: { readonly schedule: Schedule }) {
  const { cron, timezone = "UTC", everyMs, at } = definition;
  if (cron !== undefined)
    return (
      <>
        <code className="font-mono text-[0.9rem] whitespace-nowrap">{cron}</code>
        <span className="block text-[0.87rem] text-soft">{timezone}</span>
      </>
    );
  if (everyMs !== undefined) return T.every(writeSpan(everyMs));
  return (
    <>
      {T.once}
      <span className="block text-[0.87rem] text-soft">{zonedText(at ?? 0)}</span>
    </>
  );
}

function NextTick({ schedule: { nextTick, definition } }: { readonly schedule: Schedule }) {
  if (nextTick === null) return <span className="text-soft">{T.noNext}</span>;
  return (
    <>
      <When at={nextTick} />
      <span
        className="block text-[0.87rem] whitespace-nowrap text-soft"
        title={zonedText(nextTick, definition.timezone)}
      >
        {zonedText(nextTick)}
      </span>
    </>
  );
}

const DOTS = {
  started: "bg-good",
  queued: "bg-busy",
  skipped: "bg-calm",
  dropped: "bg-waits",
  missed: "bg-waits",
  refused: "bg-bad",
} as const;

function LastTicks({ schedule: { ticks, lastRun } }: { readonly schedule: Schedule }) {
  const last = ticks.at(-1);
  if (!last) return <span className="text-soft">{T.noTicks}</span>;
  return (
    <>
      <span aria-hidden className="mb-1 flex gap-0.5">
        {ticks.slice(-12).map(({ tick, outcome }) => (
          <span key={tick} title={T.outcome[outcome]} className={`h-3 w-1 rounded-sm ${DOTS[outcome]}`} />
        ))}
      </span>
      <span className="text-[0.87rem] text-soft">
        {last.outcome} <When at={last.tick} />
      </span>
      {lastRun === null ? null : (
        <Link href={`/r/${lastRun}`} className="block max-w-40 truncate font-mono text-[0.82rem] underline">
          {lastRun}
        </Link>
      )}
    </>
  );
}
