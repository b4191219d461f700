/** `npm run test:exhaustive`: every case, where `npm test` takes samples. */
export const isExhaustive = process.env["HOLDFAST_EXHAUSTIVE"] === "1";

/** How many cases to take: `few` of them, or `all` in an exhaustive run. */
export const sampled = (few: number, all = Number.POSITIVE_INFINITY): number => (isExhaustive ? all : few);
