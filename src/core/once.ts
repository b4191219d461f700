/** Does a piece of work when it is first asked for, and hands out its result from then on. A failure isn't kept. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  const again = (error: unknown): never => {
    done = undefined;
    throw error;
  };
  return () => (done ??= work().catch(again));
}
