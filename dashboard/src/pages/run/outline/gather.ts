import type { ArgsOf } from "../../../api/client.ts";
import type { Outline, Step } from "./tree.ts";

/** What is known of an outline so far. */
export interface Gathered {
  /** With all steps that have arrived. Its position is that of the oldest page, so nothing is missed later. */
  readonly outline: Outline;
  /** Where the next page begins; `null` when all have arrived. */
  readonly next: number | null;
}

type Page = Omit<ArgsOf<"getOutline">, "run">;
type Ask = (page: Page) => Promise<Outline>;

/** The first page is short, so that something is there at once. */
const FIRST = 500;
const MOST = 2_000;

/** Asks for the first page, then for the next ones, then for what moved since. */
export async function continued(known: Gathered | undefined, ask: Ask): Promise<Gathered> {
  if (!known) {
    const outline = await ask({ limit: FIRST });
    return { outline, next: outline.next };
  }
  if (known.next !== null) {
    const page = await ask({ from: known.next, limit: MOST });
    const steps = merged(known.outline.steps, page.steps);
    return { outline: { ...page, seq: known.outline.seq, steps }, next: page.next };
  }
  return moved(known.outline, ask);
}

async function moved(outline: Outline, ask: Ask): Promise<Gathered> {
  const since = outline.seq;
  const first = await ask({ since, limit: MOST });
  const isNews = first.since > 0;
  if (isNews && first.steps.length === 0 && first.seq === since) return { outline, next: null };
  if (isNews && first.next !== null) {
    // So much has moved that the same question would have to be asked in pages, while it moves on.
    const fresh = await ask({ limit: MOST });
    return { outline: fresh, next: fresh.next };
  }
  return {
    outline: { ...first, steps: isNews ? merged(outline.steps, first.steps) : first.steps },
    next: isNews ? null : first.next,
  };
}

/** The known steps with the new ones in their places; those that were unknown come last. */
export function merged(known: readonly Step[], news: readonly Step[]): readonly Step[] {
  if (news.length === 0) return known;
  const fresh = new Map(news.map((step) => [step.step, step]));
  const kept = known.map((step) => {
    const replaced = fresh.get(step.step);
    fresh.delete(step.step);
    return replaced ?? step;
  });
  return fresh.size === 0 ? kept : [...kept, ...fresh.values()];
}
