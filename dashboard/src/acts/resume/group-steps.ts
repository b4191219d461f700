/** Steps that belong together in a plan. */
export interface StepGroup<Row> {
  /** The step, or the pattern of several: `match[…]`. */
  readonly name: string;
  readonly rows: readonly Row[];
}

/** Lists up to this length are shown as they are. */
const FEW = 12;

/**
 * Rows of a long list, with those of the same step of a loop or a list in one group; the order of the first of each
 * stays.
 */
export function groupSteps<Row extends { readonly step: string }>(
  rows: readonly Row[],
): readonly StepGroup<Row>[] {
  if (rows.length <= FEW) return rows.map((row) => ({ name: row.step, rows: [row] }));
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const name = row.step.replaceAll(/\[[^\]]*\]|#\d+/g, "[…]");
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return [...groups].map(([name, found]) => ({
    name: found.length === 1 ? (found[0]?.step ?? name) : name,
    rows: found,
  }));
}
