/** The reason somebody gave last for reading values of a run, for as long as this page is open. */
const given = new Map<string, string>();

export const lastReason = (run: string): string | null => given.get(run) ?? null;

export function rememberReason(run: string, reason: string): void {
  given.set(run, reason);
}
