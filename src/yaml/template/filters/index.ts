import type { Filter } from "./filter.ts";
import { LIST_FILTERS } from "./lists.ts";
import { NUMBER_FILTERS } from "./numbers.ts";
import { TEXT_FILTERS } from "./texts.ts";

/** Every filter of Jinja2 3.1 that makes sense here, under its own name, and Conductor's `json`. */
export const FILTERS: ReadonlyMap<string, Filter> = new Map(
  Object.entries({ ...TEXT_FILTERS, ...LIST_FILTERS, ...NUMBER_FILTERS }),
);

const ALIASES: Readonly<Record<string, string>> = { count: "length", e: "escape" };

/** Jinja filters that are left out, with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  attr: "data has no attributes besides what it holds: write x.name or x[name]",
  random: "a resumed run must produce the same text",
  urlize: "prompts are not HTML",
};

export const findFilter = (name: string): Filter | undefined => FILTERS.get(ALIASES[name] ?? name);
export const FILTER_NAMES: readonly string[] = [...FILTERS.keys(), ...Object.keys(ALIASES)];
