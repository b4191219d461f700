import { useQueries } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { type AnswerOf, client } from "../../../api/client.ts";
import { useApi } from "../../../api/use-api.ts";
import { TEXT } from "../../../text.ts";
import { Button } from "../../../ui/button.tsx";
import { When } from "../../../ui/time.tsx";
import { useRows } from "../../../ui/virtual.ts";
import { BLOCK, blocksOf, GROUPS, type Group, groupOfKind, isFailure, kindText } from "./blocks.ts";

const ROW_PX = 28;

type Event = AnswerOf<"listEvents">["events"][number];

interface EventsProps {
  readonly run: string;
  readonly seq: number;
  readonly onSelect: (step: string) => void;
}

/** What happened, newest first. */
export function Events({ run, seq, onSelect }: EventsProps) {
  const [count, setCount] = useState(1);
  const [hidden, setHidden] = useState<ReadonlySet<Group>>(new Set());
  const [failedOnly, setFailedOnly] = useState(false);
  const { events, isMore } = useEvents(run, seq, count);
  const shown = useMemo(
    () => events.filter(({ kind }) => (failedOnly ? isFailure(kind) : !hidden.has(groupOfKind(kind)))),
    [events, hidden, failedOnly],
  );
  const toggle = (group: Group): void => {
    const next = new Set(hidden);
    if (!next.delete(group)) next.add(group);
    setHidden(next);
  };
  return (
    <div>
      <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2 text-[0.93rem]">
        <legend className="sr-only">{TEXT.run.events.filter}</legend>
        {GROUPS.map((group) => (
          <label key={group} className="flex items-center gap-1.5">
            <input
              type="checkbox"
              checked={!hidden.has(group)}
              disabled={failedOnly}
              onChange={() => toggle(group)}
            />
            {TEXT.run.events.groups[group]}
          </label>
        ))}
        <label className="ml-2 flex items-center gap-1.5">
          <input type="checkbox" checked={failedOnly} onChange={() => setFailedOnly(!failedOnly)} />
          {TEXT.run.events.failedOnly}
        </label>
      </fieldset>
      <EventTable events={shown} onSelect={onSelect} />
      <p className="flex items-center gap-3 px-4 py-2 text-[0.93rem] text-soft">
        {TEXT.run.events.shown(shown.length, seq)}
        {isMore ? (
          <Button small onClick={() => setCount(count + 2)}>
            {TEXT.run.events.earlier}
          </Button>
        ) : null}
      </p>
    </div>
  );
}

/** Full blocks are read once; only the newest one is kept up to date. */
function useEvents(run: string, seq: number, count: number) {
  const [newest = 0, ...older] = blocksOf(seq, count);
  const { data } = useApi("listEvents", { run, after: newest * BLOCK, limit: BLOCK });
  const rest = useQueries({
    queries: older.map((block) => ({
      queryKey: ["events", run, block],
      queryFn: () => client.listEvents({ run, after: block * BLOCK, limit: BLOCK }),
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: (answers) => answers.flatMap((answer) => answer.data?.events.toReversed() ?? []),
  });
  const events = useMemo(() => [...(data?.events.toReversed() ?? []), ...rest], [data, rest]);
  return { events, isMore: (older.at(-1) ?? newest) > 0 };
}

function EventTable({
  events,
  onSelect,
}: {
  readonly events: readonly Event[];
  readonly onSelect: (step: string) => void;
}) {
  const box = useRef<HTMLElement>(null);
  const virtual = useRows({ count: events.length, box, rowPx: ROW_PX, keyOf: (at) => events[at]?.seq ?? at });
  const items = virtual.getVirtualItems();
  const { columns } = TEXT.run.events;
  return (
    <section
      ref={box}
      aria-label={TEXT.run.below.events}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
      tabIndex={0}
      className="max-h-112 overflow-auto overscroll-contain border-y border-line"
    >
      <table aria-rowcount={events.length + 1} className="w-full text-left text-[0.93rem]">
        <thead className="sticky top-0 bg-surface text-soft">
          <tr>
            {[columns.seq, columns.when, columns.what, columns.step, columns.who].map((name) => (
              <th key={name} scope="col" className="px-4 py-1.5 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(items[0]?.start ?? 0) > 0 ? <tr aria-hidden style={{ height: items[0]?.start }} /> : null}
          {items.map(({ index }) => {
            const event = events[index];
            return event ? (
              <EventRow key={event.seq} event={event} index={index} onSelect={onSelect} />
            ) : null;
          })}
          <tr
            aria-hidden
            style={{ height: Math.max(0, virtual.getTotalSize() - (items.at(-1)?.end ?? 0)) }}
          />
        </tbody>
      </table>
    </section>
  );
}

function EventRow({
  event: { seq, at, kind, step, actor, reason },
  index,
  onSelect,
}: {
  readonly event: Event;
  readonly index: number;
  readonly onSelect: (step: string) => void;
}) {
  return (
    <tr
      aria-rowindex={index + 2}
      className={`hover:bg-sunken ${isFailure(kind) ? "text-bad" : ""}`}
      style={{ height: ROW_PX }}
    >
      <td className="px-4 text-soft tabular-nums">#{seq}</td>
      <td className="px-4 whitespace-nowrap">
        <When at={at} />
      </td>
      <td className="px-4 whitespace-nowrap">{kindText(kind)}</td>
      <td className="max-w-80 truncate px-4">
        {step === "" ? null : (
          <button type="button" className="hover:underline" onClick={() => onSelect(step)}>
            {step}
          </button>
        )}
      </td>
      <td className="max-w-96 truncate px-4" title={reason}>
        {actor}
        {reason === undefined ? null : <span className="text-soft"> “{reason}”</span>}
      </td>
    </tr>
  );
}
