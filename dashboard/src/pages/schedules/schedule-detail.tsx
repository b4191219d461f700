import { useState } from "react";
import { Link } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { useActOn } from "../../api/use-refresh.ts";
import { TEXT } from "../../text.ts";
import { AllowedButton } from "../../ui/allowed.tsx";
import { When } from "../../ui/time.tsx";
import { BackfillDialog } from "./backfill-dialog.tsx";
import {
  deleteSchedule,
  MANAGE,
  pauseSchedule,
  resumeSchedule,
  type Schedule,
  triggerSchedule,
} from "./schedule-acts.ts";
import { ScheduleDialog } from "./schedule-dialog.tsx";
import { Ticks } from "./ticks.tsx";

const T = TEXT.schedules;

/** What a schedule will do, has done, and who changed it. */
export function ScheduleDetail({
  schedule,
  onChange,
}: {
  readonly schedule: Schedule;
  readonly onChange: () => void;
}) {
  const { name, definition, ticks, history } = schedule;
  const { data } = useApi("getSchedule", { name });
  const [open, setOpen] = useState<"edit" | "backfill" | null>(null);
  const act = useActOn("listSchedules", "getSchedule", "listRuns");
  const zone = definition.cron === undefined ? undefined : (definition.timezone ?? "UTC");
  const close = (): void => setOpen(null);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap gap-2">
        {schedule.status === "ended" ? null : (
          <AllowedButton
            permission={MANAGE}
            small
            className="sm:hidden"
            onClick={() => act(schedule.paused ? resumeSchedule(schedule) : pauseSchedule(schedule))}
          >
            {schedule.paused ? T.short.resume : T.short.pause}
          </AllowedButton>
        )}
        <AllowedButton permission={MANAGE} small onClick={() => act(triggerSchedule(schedule))}>
          {T.trigger.verb}
        </AllowedButton>
        <AllowedButton permission={MANAGE} small onClick={() => setOpen("backfill")}>
          {T.backfill.title(name)}
        </AllowedButton>
        <AllowedButton permission={MANAGE} small onClick={() => setOpen("edit")}>
          {T.form.editing(name)}
        </AllowedButton>
        <AllowedButton permission={MANAGE} small look="danger" onClick={() => act(deleteSchedule(schedule))}>
          {T.remove.verb}
        </AllowedButton>
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6 md:grid-cols-2 xl:grid-cols-3">
        <section>
          <h3 className="mb-1 font-medium">{T.nextTicks}</h3>
          {data && data.next.length > 0 ? (
            <Ticks ticks={data.next} zone={zone} />
          ) : (
            <p className="text-soft">{T.noNext}</p>
          )}
        </section>
        <section>
          <h3 className="mb-1 font-medium">{T.lastTicks}</h3>
          {ticks.length === 0 ? <p className="text-soft">{T.noTicks}</p> : null}
          <ul className="text-[0.93rem]">
            {ticks
              .toReversed()
              .slice(0, 8)
              .map(({ tick, outcome, runId, why }) => (
                <li key={tick} className="flex min-w-0 gap-2">
                  <span className="shrink-0">
                    <When at={tick} /> · {T.outcome[outcome]}
                  </span>
                  {runId === undefined ? null : (
                    <Link href={`/r/${runId}`} title={runId} className="truncate font-mono underline">
                      {runId}
                    </Link>
                  )}
                  {why === undefined ? null : <span className="text-bad">{why}</span>}
                </li>
              ))}
          </ul>
        </section>
        <section>
          <h3 className="mb-1 font-medium">{T.history}</h3>
          <ul className="text-[0.93rem]">
            {history
              .toReversed()
              .slice(0, 8)
              .map(({ at, act: what, actor, reason }) => (
                <li key={`${at} ${what}`}>
                  <When at={at} /> · {what} {actor === undefined ? null : `· ${actor}`}
                  {reason === undefined ? null : <span className="block text-soft">{reason}</span>}
                </li>
              ))}
          </ul>
        </section>
      </div>
      {open === "edit" ? <ScheduleDialog schedule={schedule} onClose={close} onDone={onChange} /> : null}
      {open === "backfill" ? <BackfillDialog schedule={schedule} onClose={close} onDone={onChange} /> : null}
    </div>
  );
}
