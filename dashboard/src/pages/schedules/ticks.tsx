import { TEXT } from "../../text.ts";
import { When } from "../../ui/time.tsx";
import { localZone, zonedText } from "../../ui/zoned.tsx";

/** Ticks on the clock of whoever looks, and on the schedule's own if that is another. */
export function Ticks({
  ticks,
  zone,
}: {
  readonly ticks: readonly number[];
  readonly zone: string | undefined;
}) {
  const other = zone !== undefined && zone !== localZone() ? zone : null;
  return (
    <table className="text-[0.93rem] tabular-nums">
      <thead className="text-[0.82rem] text-soft">
        <tr>
          <th scope="col" className="pr-6 text-left font-medium">
            {TEXT.schedules.local}
          </th>
          {other === null ? null : (
            <th scope="col" className="pr-6 text-left font-medium">
              {TEXT.schedules.zone(other)}
            </th>
          )}
          <th scope="col" className="text-left font-medium">
            {TEXT.schedules.fromNow}
          </th>
        </tr>
      </thead>
      <tbody>
        {ticks.map((tick) => (
          <tr key={tick}>
            <td className="pr-6">{zonedText(tick)}</td>
            {other === null ? null : <td className="pr-6 text-soft">{zonedText(tick, other)}</td>}
            <td className="text-soft">
              <When at={tick} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
