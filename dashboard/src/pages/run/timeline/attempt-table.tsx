import { useRef } from "react";
import { TEXT } from "../../../text.ts";
import { spanText, When } from "../../../ui/time.tsx";
import { useRows } from "../../../ui/virtual.ts";
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
  const box = useRef<HTMLElement>(null);
  const rows = lines.flatMap(({ step, bars }) => bars.map((bar) => ({ step: step.step, ...bar })));
  const virtual = useRows({ count: rows.length, box, rowPx: ROW_PX });
  const items = virtual.getVirtualItems();
  const { columns, kinds } = TEXT.run.timeline;
  return (
    <section
      ref={box}
      aria-label={TEXT.run.timeline.label}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
      tabIndex={0}
      className="max-h-[max(24rem,calc(100dvh-15rem))] overflow-auto overscroll-contain"
    >
      <table aria-rowcount={rows.length + 1} className="w-full text-left text-[0.93rem] tabular-nums">
        <thead className="sticky top-0 bg-surface text-soft">
          <tr>
            {[columns.step, columns.attempt, columns.what, columns.began, columns.took].map((name) => (
              <th key={name} scope="col" className="border-b border-line px-3 py-1.5 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer px={items[0]?.start ?? 0} />
          {items.map(({ index }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <tr
                key={index}
                aria-rowindex={index + 2}
                className="hover:bg-sunken"
                style={{ height: ROW_PX }}
              >
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
          })}
          <Spacer px={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} />
        </tbody>
      </table>
    </section>
  );
}

const Spacer = ({ px }: { readonly px: number }) =>
  px > 0 ? <tr aria-hidden style={{ height: px }} /> : null;
