/** Lists some of the names, so that a text stays readable. */
export function listed(names: readonly string[], shown = 12): string {
  const more = names.length - shown;
  if (more > 0) return `${names.slice(0, shown).join(", ")} and ${more} more`;
  return names.join(", ") || "none of them";
}
