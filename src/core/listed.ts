const SHOWN = 12;

/** Lists some of the names, so that a wait stays readable. */
export function listed(names: readonly string[]): string {
  const more = names.length - SHOWN;
  if (more > 0) return `${names.slice(0, SHOWN).join(", ")} and ${more} more`;
  return names.join(", ") || "none of them";
}
