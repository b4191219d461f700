import type { AnswerOf } from "../../api/client.ts";

export type Need = AnswerOf<"needsYou">["needs"][number];

/** One card: a run, or runs that failed alike. */
export interface Card {
  readonly key: string;
  readonly first: Need;
  readonly needs: readonly Need[];
}

/** So many runs that failed alike are one thing to decide. */
const ALIKE = 3;

/** Puts runs that failed alike onto one card, at the place of the first of them. The order stays. */
export function cardsOf(needs: readonly Need[]): readonly Card[] {
  const groups = new Map<string, Need[]>();
  for (const need of needs) {
    if (need.errorGroup === null) continue;
    const group = groups.get(need.errorGroup);
    if (group) group.push(need);
    else groups.set(need.errorGroup, [need]);
  }
  return needs.flatMap((need) => {
    const alike = groups.get(need.errorGroup ?? "") ?? [];
    if (alike.length < ALIKE) return [{ key: need.run.id, first: need, needs: [need] }];
    return alike[0] === need ? [{ key: need.errorGroup ?? "", first: need, needs: alike }] : [];
  });
}
