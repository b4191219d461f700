import { useApi } from "../api/use-api.ts";
import { TEXT } from "../text.ts";
import { When } from "../ui/time.tsx";

/** What happened in a run since a position: shown when an act came too late. */
export function Meanwhile({ run, seq }: { readonly run: string; readonly seq: number }) {
  const { data } = useApi("listEvents", { run, after: seq, limit: 8 });
  if (!data || data.events.length === 0) return null;
  return (
    <div className="rounded-md border border-waits/40 bg-waits-soft p-3">
      <p className="font-medium text-waits">{TEXT.dialog.changed}</p>
      <ul className="mt-1 text-[0.93rem]">
        {data.events.map((event) => (
          <li key={event.seq}>
            {event.kind} {event.step} {event.actor === undefined ? null : `· ${event.actor}`} ·{" "}
            <When at={event.at} />
          </li>
        ))}
      </ul>
      <p className="mt-1 text-soft">{TEXT.dialog.look}</p>
    </div>
  );
}
