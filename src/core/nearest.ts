/** The known word that is most similar to this one, however far off. */
export const nearest = (word: string, known: readonly string[]): string =>
  known.reduce((best, one) => (distance(word, one) < distance(word, best) ? one : best));

const MOST_COMPARED = 100;

/**
 * ` Did you mean x?` when a known word is similar, else nothing: a wrong guess sends its reader astray. `before` and
 * `after` put it into other words.
 */
export function didYouMean(
  word: string,
  known: Iterable<string>,
  before = " Did you mean ",
  after = "?",
): string {
  // A name is rarely mistyped by more than a few letters, and comparing takes time with the length of both.
  const near = [...known].filter((one) => one.length < 64 && Math.abs(one.length - word.length) < 8);
  const [first, ...others] = near.slice(0, MOST_COMPARED);
  if (first === undefined) return "";
  const meant = nearest(word, [first, ...others]);
  return isSimilar(word, meant) ? `${before}${meant}${after}` : "";
}

/** True when at most a third of the letters differ, or half of them after the same first letter. */
function isSimilar(word: string, other: string): boolean {
  const [first = "", second = ""] = [word[0]?.toLowerCase(), other[0]?.toLowerCase()];
  return distance(word, other) * (first === second ? 2 : 3) <= Math.max(word.length, other.length);
}

/** The number of letters to add, remove or change to turn one word into the other, ignoring case. */
function distance(a: string, b: string): number {
  const [from, to] = [a.slice(0, 64).toLowerCase(), b.toLowerCase()];
  let before = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const changed = (before[j] as number) + (from[i] === to[j] ? 0 : 1);
      row.push(Math.min(changed, (before[j + 1] as number) + 1, (row[j] as number) + 1));
    }
    before = row;
  }
  return before.at(-1) as number;
}
