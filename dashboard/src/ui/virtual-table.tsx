import { type ReactNode, useRef } from "react";
import { useRows } from "./virtual.ts";

export interface VirtualTableProps {
  /** What the table shows, for those who hear it. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly count: number;
  readonly rowPx: number;
  readonly keyOf?: (index: number) => string | number;
  readonly className: string;
  readonly headClassName: string;
  /** The row at this place, with its key. */
  readonly row: (index: number) => ReactNode;
}

/** A table that scrolls by itself and holds only the rows in view. */
export function VirtualTable({
  label,
  columns,
  count,
  rowPx,
  keyOf,
  className,
  headClassName,
  row,
}: VirtualTableProps) {
  const box = useRef<HTMLElement>(null);
  const virtual = useRows({ count, box, rowPx, ...(keyOf ? { keyOf } : {}) });
  const items = virtual.getVirtualItems();
  return (
    <section
      ref={box}
      aria-label={label}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
      tabIndex={0}
      className={`overflow-auto overscroll-contain ${className}`}
    >
      <table aria-rowcount={count + 1} className="w-full text-left text-[0.93rem]">
        <thead className="sticky top-0 bg-surface text-soft">
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" className={`py-1.5 font-medium whitespace-nowrap ${headClassName}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer px={items[0]?.start ?? 0} />
          {items.map(({ index }) => row(index))}
          <Spacer px={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} />
        </tbody>
      </table>
    </section>
  );
}

/** Stands for the rows that aren't in view. */
const Spacer = ({ px }: { readonly px: number }) =>
  px > 0 ? <tr aria-hidden style={{ height: px }} /> : null;
