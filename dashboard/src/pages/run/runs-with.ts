import { partText } from "../runs/filter.ts";

/** The address of the runs that have this in common. */
export const runsWith = (key: "workflow" | "label" | "parent", value: string): string =>
  `/runs?${new URLSearchParams({ q: partText({ key, value, isNot: false }) })}`;
