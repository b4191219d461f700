/** The requirements that a text names: one id, a list such as `S0-24, S0-25`, or a range such as `S2-21…S2-33`. */
export function idsIn(text: string): string[] {
  const named = [...text.matchAll(/\b(S[0-4])-(\d\d)(?:\s*(?:…|\.{2,3}|–)\s*(?:\1-)?(\d\d))?\b/g)];
  return named.flatMap(([, seed = "", first = "", last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => idOf(seed, Number(first) + i)),
  );
}

const idOf = (seed: string, number: number): string => `${seed}-${String(number).padStart(2, "0")}`;

const LAST: Readonly<Record<string, number>> = { S0: 53, S1: 76, S2: 33, S3: 36, S4: 31 };

/** Every id of the five documents, in order. */
export const ALL_IDS: readonly string[] = Object.entries(LAST).flatMap(([seed, last]) =>
  Array.from({ length: last }, (_, i) => idOf(seed, i + 1)),
);
