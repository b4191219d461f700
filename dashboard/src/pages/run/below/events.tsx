import { useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type AnswerOf, client } from "../../../api/client.ts";
import { useApi } from "../../../api/use-api.ts";
import { TEXT } from "../../../text.ts";
import { Button } from "../../../ui/button.tsx";
import { useGrown } from "../../../ui/letters.ts";
import { When } from "../../../ui/time.tsx";
import { VirtualTable } from "../../../ui/virtual-table.tsx";
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
  const { columns } = TEXT.run.events;
  const rowPx = useGrown(ROW_PX);
  return (
    <VirtualTable
      label={TEXT.run.below.events}
      columns={[columns.seq, columns.when, columns.what, columns.step, columns.who]}
      count={events.length}
      rowPx={rowPx}
      keyOf={(at) => events[at]?.seq ?? at}
      className="max-h-112 border-y border-line max-sm:[&_:is(td,th)]:px-2 max-sm:[&_:is(td,th):first-child:not([colspan])]:hidden"
      headClassName="px-4"
      row={(index) => {
        const event = events[index];
        return event ? (
          <EventRow key={event.seq} event={event} index={index} height={rowPx} onSelect={onSelect} />
        ) : null;
      }}
    />
  );
}

function EventRow({
  event: { seq, at, kind, step, actor, reason },
  index,
  height,
  onSelect,
}: {
  readonly event: Event;
  readonly index: number;
  readonly height: number;
  readonly onSelect: (step: string) => void;
}) {
  return (
    <tr
      aria-rowindex={index + 2}
      className={`hover:bg-sunken ${isFailure(kind) ? "text-bad" : ""}`}
      style={{ height }}
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
