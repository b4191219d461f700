/** The pause after the first failed attempt; each further one doubles it. */
export const FIRST_PAUSE_MS = 20;
export const LONGEST_PAUSE_MS = 2_000;
