import { fit, fitMiddle, width } from "../format.ts";
import type { Host } from "../host.ts";

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** The minimum width on a narrow terminal; columns without it are never cut. */
  readonly least?: number;
  /** Set for texts that differ at their ends: they are cut in the middle. */
  readonly isName?: true;
  /** Left out before anything is cut to less than `least`, the last such column first. */
  readonly spare?: true;
}

const GAP = 2;
/** The limit even if there is room for everything. */
const WIDEST = 200;

/** The width available for text: the terminal's; unlimited without one. */
export const roomOf = ({ stdout }: Pick<Host, "stdout">): number =>
  stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;

/**
 * Rows under titles. On a narrow terminal, the widest column that may be cut gives way, then those that can be spared;
 * a column that is empty in every row is left out.
 */
export function table(
  columns: readonly Column[],
  cells: readonly (readonly string[])[],
  { room = Number.POSITIVE_INFINITY, indent = "" }: { room?: number; indent?: string } = {},
): string[] {
  const rows = cells.map((row) => row.map((cell) => cell.replaceAll("\n", " ")));
  const kept = columns
    .map((column, index) => ({ column, index, width: widest(column.title, rows, index) }))
    .filter(({ index }) => rows.some((row) => row[index] !== undefined && row[index] !== ""));
  const space = room - indent.length;
  for (;;) {
    shrink(kept, space);
    const spare = kept.findLastIndex(({ column }) => column.spare);
    if (total(kept) <= space || spare < 0) break;
    kept.splice(spare, 1);
    for (const one of kept) one.width = widest(one.column.title, rows, one.index);
  }
  const line = (row: readonly string[]): string =>
    indent +
    kept
      .map(({ column, index, width: wide }) =>
        padded(cut(column, row[index] ?? "", wide), wide, column.align),
      )
      .join(" ".repeat(GAP))
      .trimEnd();
  const all = [line(columns.map(({ title }) => title)), ...rows.map(line)];
  // What can be neither cut nor spared is cut at the edge: a wrapped line would break the columns.
  return room === Number.POSITIVE_INFINITY ? all : all.map((text) => fit(text, room));
}

const cut = ({ isName }: Column, text: string, wide: number): string =>
  isName ? fitMiddle(text, wide) : fit(text, wide);

interface Kept {
  readonly column: Column;
  readonly index: number;
  width: number;
}

const widest = (title: string, rows: readonly (readonly string[])[], index: number): number =>
  rows.reduce((most, row) => Math.max(most, Math.min(WIDEST, width(row[index] ?? ""))), width(title));

const total = (kept: readonly Kept[]): number =>
  kept.reduce((sum, one) => sum + one.width, GAP * Math.max(0, kept.length - 1));

function shrink(kept: readonly Kept[], space: number): void {
  for (let over = total(kept) - space; over > 0; over--) {
    const able = kept.filter(({ column, width: wide }) => wide > (column.least ?? wide));
    const [first] = able.sort((a, b) => b.width - a.width);
    if (!first) return;
    first.width--;
  }
}

const padded = (text: string, wide: number, align: Column["align"]): string => {
  const gap = " ".repeat(Math.max(0, wide - width(text)));
  return align === "right" ? gap + text : text + gap;
};

/** The text of a list: its rows under dim titles, or a sentence where there are none. */
export function listText(
  { host, out }: ListPlace,
  columns: readonly Column[],
  cells: readonly (readonly string[])[],
  empty: string,
): string {
  if (cells.length === 0) return empty;
  const [head = "", ...lines] = table(columns, cells, { room: roomOf(host) });
  return [out.paint.dim(head), ...lines].join("\n");
}

interface ListPlace {
  readonly host: Pick<Host, "stdout">;
  readonly out: { readonly paint: { dim(text: string): string } };
}
