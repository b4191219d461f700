/** The kind of an event as people say it: `pause_requested` is “pause requested”. */
export const actWord = (kind: string): string => kind.replaceAll("_", " ");
