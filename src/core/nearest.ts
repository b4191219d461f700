/** The known word that is most similar to this one, for suggestions. */
export const nearest = (word: string, known: readonly string[]): string =>
  known.reduce((best, one) => (distance(word, one) < distance(word, best) ? one : best));

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
