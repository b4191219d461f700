/** Which runs are selected: named ones, or all that match the filter, also those that aren't loaded. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly isAll: boolean;
  /** The row that was last selected by itself: a range begins there. */
  readonly from: string | null;
}

export const NOTHING: Selection = { ids: new Set(), isAll: false, from: null };

/** Selects a run, or no longer. Whoever takes one out of all goes on with those that are loaded. */
export function toggle({ ids, isAll }: Selection, id: string, loaded: readonly string[]): Selection {
  const next = new Set(isAll ? loaded : ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, isAll: false, from: id };
}

/** Adds everything between the last selected row and this one. */
export function extend(selection: Selection, id: string, loaded: readonly string[]): Selection {
  const begin = selection.from === null ? -1 : loaded.indexOf(selection.from);
  const end = loaded.indexOf(id);
  if (begin === -1 || end === -1) return toggle(selection, id, loaded);
  const range = loaded.slice(Math.min(begin, end), Math.max(begin, end) + 1);
  return { ...selection, ids: new Set([...selection.ids, ...range]), isAll: false };
}

export const isSelected = ({ ids, isAll }: Selection, id: string): boolean => isAll || ids.has(id);

export const isNothing = ({ ids, isAll }: Selection): boolean => !isAll && ids.size === 0;
