import { TEXT } from "../../../text.ts";
import { useGrown } from "../../../ui/letters.ts";
import { spanText, When } from "../../../ui/time.tsx";
import { VirtualTable } from "../../../ui/virtual-table.tsx";
import type { Line } from "./bars.ts";

const ROW_PX = 32;

/** The timeline as a table, for whoever can't see the bars or wants the figures. */
export function AttemptTable({
  lines,
  onSelect,
}: {
  readonly lines: readonly Line[];
  readonly onSelect: (key: string, attempt: number | null) => void;
}) {
  const rows = lines.flatMap(({ step, bars }) => bars.map((bar) => ({ step: step.step, ...bar })));
  const { columns, kinds } = TEXT.run.timeline;
  const rowPx = useGrown(ROW_PX);
  return (
    <VirtualTable
      label={TEXT.run.timeline.label}
      columns={[columns.step, columns.attempt, columns.what, columns.began, columns.took]}
      count={rows.length}
      rowPx={rowPx}
      className="max-h-[max(24rem,calc(100dvh-15rem))] tabular-nums"
      headClassName="border-b border-line px-3"
      row={(index) => {
        const row = rows[index];
        if (!row) return null;
        return (
          <tr key={index} aria-rowindex={index + 2} className="hover:bg-sunken" style={{ height: rowPx }}>
            <td className="max-w-80 truncate px-3">
              <button
                type="button"
                className="hover:underline"
                onClick={() => onSelect(row.step, row.attempt)}
              >
                {row.step}
              </button>
            </td>
            <td className="px-3">{row.attempt}</td>
            <td className="px-3">{kinds[row.kind]}</td>
            <td className="px-3">
              <When at={row.from} />
            </td>
            <td className="px-3">{spanText(row.to - row.from)}</td>
          </tr>
        );
      }}
    />
  );
}
