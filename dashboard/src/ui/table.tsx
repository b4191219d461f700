import { ChevronDown, ChevronRight } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { useKeys } from "../keys.tsx";
import { TEXT } from "../text.ts";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: "right";
  /** Left out on narrow windows. */
  readonly spare?: "sm" | "md" | "lg";
  /** What can be done with the row. On a phone it stands below the name, where nobody has to look for it. */
  readonly isActs?: boolean;
  /** This column takes what is left of the width. */
  readonly grows?: boolean;
  /** Its text may have several lines; that of others stands on one. */
  readonly wraps?: boolean;
}

export interface TableProps<Row> {
  /** What the table shows, for those who hear it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** More about a row, below it. */
  readonly detail?: (row: Row) => ReactNode;
  readonly onOpen?: (row: Row) => void;
}

const SPARE = { sm: "max-sm:hidden", md: "max-md:hidden", lg: "max-lg:hidden" } as const;

/** A plain table: rows stay where they are while data is refreshed, and j and k walk over them. */
export function Table<Row>({ label, columns, rows, keyOf, detail, onOpen }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const acts = columns.find(({ isActs }) => isActs);
  const walk = (by: number): void => {
    const all = [...(body.current?.querySelectorAll<HTMLElement>("tr[tabindex]") ?? [])];
    const at = all.findIndex((one) => one === document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
  };
  useKeys([
    { keys: "j", name: TEXT.table.next, act: () => walk(1) },
    { keys: "k", name: TEXT.table.before, act: () => walk(-1) },
  ]);
  // Where the text of another column has lines, the two share what is left.
  const grown = columns.some(({ wraps }) => wraps) ? "w-1/2" : "w-full";
  const shown = (column: Column<Row>): string =>
    `${column.align === "right" ? "text-right tabular-nums" : "text-left"} ${column.isActs ? SPARE.sm : column.spare ? SPARE[column.spare] : ""} ${column.grows ? `${grown} min-w-44 break-words` : ""} ${column.wraps ? "w-1/2 min-w-40 break-words" : column.grows ? "" : "whitespace-nowrap"}`;
  const open = (event: KeyboardEvent, row: Row): void => {
    if (event.key !== "Enter" || event.target !== event.currentTarget) return;
    const link = event.currentTarget.querySelector("a");
    if (onOpen) onOpen(row);
    else link?.click();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
    <section className="overflow-x-auto" aria-label={label} tabIndex={0}>
      <table className="w-full border-collapse text-[0.95rem]">
        <thead>
          <tr className="border-b border-line text-[0.82rem] text-soft">
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={`px-3 py-2 font-medium whitespace-nowrap first:pl-4 last:pr-4 ${shown(column)}`}
              >
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} className="divide-y divide-line">
          {rows.map((row) => (
            <Rows key={keyOf(row)} detail={detail?.(row)} span={columns.length}>
              <tr
                tabIndex={-1}
                onKeyDown={(event) => open(event, row)}
                className="align-top hover:bg-sunken/60 focus-visible:bg-accent-soft/50"
              >
                {columns.map((column, at) => (
                  <td key={column.title} className={`px-3 py-2 first:pl-4 last:pr-4 ${shown(column)}`}>
                    {column.cell(row)}
                    {at === 0 && acts ? <div className="mt-1.5 flex sm:hidden">{acts.cell(row)}</div> : null}
                  </td>
                ))}
              </tr>
            </Rows>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Rows({
  detail,
  span,
  children,
}: {
  readonly detail: ReactNode;
  readonly span: number;
  readonly children: ReactNode;
}) {
  return (
    <>
      {children}
      {detail === undefined || detail === null ? null : (
        <tr className="bg-sunken/40">
          <td colSpan={span} className="px-3 py-3">
            <div className="max-sm:max-w-[calc(100vw-4rem)]">{detail}</div>
          </td>
        </tr>
      )}
    </>
  );
}

/** The name of a row, which shows and hides more about it. */
export function RowToggle({
  isOpen,
  label,
  onClick,
  children,
}: {
  readonly isOpen: boolean;
  readonly label: string;
  readonly onClick: () => void;
  readonly children: ReactNode;
}) {
  const Icon = isOpen ? ChevronDown : ChevronRight;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-label={label}
      onClick={onClick}
      className="flex items-start gap-1 text-left"
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-faint" />
      {children}
    </button>
  );
}
