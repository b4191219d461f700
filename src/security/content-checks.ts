import { HoldfastError } from "../core/errors.ts";
import type { ContentCheck, ContentItem, ContentVerdict } from "../core/guards/content.ts";
import { DETECTORS } from "../core/values/redact-detectors.ts";
import { injectionSigns } from "./content-injection.ts";
import { textsOf } from "./content-text.ts";

/** What becomes of a value that a rule finds something in. */
export type ContentAction = "quarantine" | "park";

/** Looks at one value. Answers what is wrong with it in a few words, without quoting it; nothing when it is fine. */
export interface ContentRule {
  readonly name: string;
  readonly action: ContentAction;
  find(item: ContentItem, texts: readonly string[]): string | undefined | Promise<string | undefined>;
}

/**
 * One content check made of rules. All are asked; the strictest action counts, and the reasons of all are recorded. A rule that throws has
 * parked the run.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { contentChecks, injectionCheck, secretCheck, sizeCheck } from "holdfast/security";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const spam = { name: "spam", action: "park", find: async (_: unknown, texts: readonly string[]) => (texts.join().includes("$$$") ? "spam" : undefined) } as const;
 *
 * export const engine = createEngine({
 *   store: await openSqliteStore(),
 *   contentCheck: contentChecks(injectionCheck(), secretCheck(), sizeCheck({ maxChars: 200_000 }), spam),
 * });
 * ```
 */
export function contentChecks(...rules: readonly ContentRule[]): ContentCheck {
  for (const rule of rules) checkRule(rule);
  return async (item): Promise<ContentVerdict> => {
    const texts = textsOf(item.value);
    const reasons: string[] = [];
    let park = false;
    for (const rule of rules) {
      const reason = await rule.find(item, texts);
      if (reason === undefined) continue;
      reasons.push(`${rule.name}: ${reason}`);
      park ||= rule.action === "park";
    }
    if (reasons.length === 0) return "allow";
    return park ? { park: reasons.join("; ") } : { quarantine: reasons.join("; ") };
  };
}

function checkRule(rule: ContentRule): void {
  const { name, action } = rule;
  const refuse = (option: string, problem: string) => new HoldfastError("HF-1003", { option, problem });
  if (typeof name !== "string" || name === "") throw refuse("rule.name", "it must be a text");
  if (action !== "quarantine" && action !== "park")
    throw refuse(`${name}.action`, "it must be quarantine or park");
  if (typeof rule.find !== "function") throw refuse(`${name}.find`, "it is not a function");
}

interface RuleOptions {
  readonly action?: ContentAction;
}

/** Signs of this weight together are a finding. */
const ENOUGH = 2;
/** These only make others heavier. */
const SUPPORTING: ReadonlySet<string> = new Set(["instead", "destination"]);

/**
 * Texts that want to be obeyed: that take back instructions, pose as a system message, ask for prompts or credentials, speak to an AI
 * behind the user's back. Looks for words, so it finds common attacks and misses clever ones: see docs/security.md for how many.
 */
export const injectionCheck = ({ action = "quarantine" }: RuleOptions = {}): ContentRule => ({
  name: "injection",
  action,
  find(_, texts) {
    const kinds = new Set<string>();
    for (const text of texts) {
      const signs = injectionSigns(text);
      if (signs.reduce((sum, { weight }) => sum + weight, 0) >= ENOUGH)
        for (const { kind } of signs) if (!SUPPORTING.has(kind)) kinds.add(kind);
    }
    return kinds.size === 0 ? undefined : `signs of ${[...kinds].sort().join(", ")}`;
  },
});

/** Credentials of well-known kinds, as `redact` knows them. */
export const secretCheck = ({ action = "quarantine" }: RuleOptions = {}): ContentRule => ({
  name: "secret",
  action,
  find(_, texts) {
    const kinds = DETECTORS.filter(({ pattern }) =>
      texts.some((text) => new RegExp(pattern.source).test(text)),
    );
    return kinds.length === 0 ? undefined : kinds.map(({ kind }) => kind).join(", ");
  },
});

/** Values with more text than a run should take in. */
export function sizeCheck({
  maxChars,
  action = "park",
}: RuleOptions & { readonly maxChars: number }): ContentRule {
  if (!(Number.isFinite(maxChars) && maxChars > 0))
    throw new HoldfastError("HF-1003", { option: "maxChars", problem: "it must be a number above 0" });
  return {
    name: "size",
    action,
    find(_, texts) {
      const chars = texts.reduce((sum, text) => sum + text.length, 0);
      return chars > maxChars ? `${chars} characters, at most ${maxChars} are allowed` : undefined;
    },
  };
}

/** A schema of any library that follows Standard Schema, such as zod. */
export interface StandardSchema {
  readonly "~standard": {
    validate(value: unknown):
      | { readonly issues?: readonly { readonly message: string }[] | undefined }
      | Promise<{
          readonly issues?: readonly { readonly message: string }[] | undefined;
        }>;
  };
}

/** Values that do not have the shape they should have, by name: of a step, a loop, a memory key, a signal, `input` or `config`. */
export const schemaCheck = (
  schemas: Readonly<Record<string, StandardSchema>>,
  { action = "quarantine" }: RuleOptions = {},
): ContentRule => ({
  name: "schema",
  action,
  async find({ name, value }) {
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    const { issues = [] } = (await schema?.["~standard"].validate(value)) ?? {};
    return issues.length === 0
      ? undefined
      : `${issues.length} ${issues.length === 1 ? "problem" : "problems"}`;
  },
});
