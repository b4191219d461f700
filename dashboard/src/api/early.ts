import { BASE } from "./base.ts";

interface Early {
  readonly answer: Promise<Response>;
  readonly at: number;
  readonly stop: AbortController;
}

/** What was asked for before the code that needs it was there. */
const asked = new Map<string, Early>();

/** An answer that nobody has wanted for so long is no longer news. */
const FRESH_MS = 5_000;

const addressOf = (path: string): string => `${location.origin}${BASE}${path}`;

/** Asks for `path`, a path of the API, so that its answer is on the way when it is needed. */
export function askEarly(path: string): void {
  const stop = new AbortController();
  const answer = fetch(addressOf(path), { signal: stop.signal });
  // Whoever needs it asks again.
  answer.catch(() => undefined);
  asked.set(addressOf(path), { answer, at: performance.now(), stop });
}

/** The answer to what was asked early, once. Anything but success is asked for again. */
export async function takeEarly(address: string, signal?: AbortSignal): Promise<Response | undefined> {
  const early = asked.get(address);
  if (!early) return undefined;
  asked.delete(address);
  const stop = (): void => early.stop.abort();
  if (signal?.aborted || performance.now() - early.at > FRESH_MS) stop();
  signal?.addEventListener("abort", stop);
  const response = await early.answer.catch(() => undefined);
  return response?.ok ? response : undefined;
}
