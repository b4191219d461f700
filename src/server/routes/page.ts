import { byKey } from "../../core/store/documents.ts";

interface PageQuery {
  readonly after?: string;
  readonly limit: number;
}

/** One page of things in order of their names. `next`: pass it as `after`; `null` when this is all. */
export function pageOf<T>(
  all: readonly T[],
  nameOf: (one: T) => string,
  { after, limit }: PageQuery,
): { readonly page: readonly T[]; readonly next: string | null } {
  const left = [...all]
    .sort((a, b) => byKey(nameOf(a), nameOf(b)))
    .filter((one) => after === undefined || byKey(nameOf(one), after) > 0);
  const page = left.slice(0, limit);
  const last = left.length > limit ? page.at(-1) : undefined;
  return { page, next: last === undefined ? null : nameOf(last) };
}
