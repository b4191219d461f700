import {
  checkKeys,
  checkMethod,
  checkNumber,
  checkObject,
  checkOneOf,
  checkText,
} from "../core/check-options.ts";
import type { ContentCheck, ContentItem, ContentVerdict } from "../core/guards/content.ts";
import { checkSchemas, type Schemas } from "../core/standard-schema.ts";
import { DETECTORS } from "../core/values/redact-detectors.ts";
import { injectionSigns } from "./content-injection.ts";
import { textsOf } from "./content-text.ts";

/** The action to take on a value in which a rule finds something. */
export type ContentAction = "quarantine" | "park";

/**
 * Examines one value. Returns a short description of the problem, without quoting the value, or nothing when it is
 * fine.
 */
export interface ContentRule {
  readonly name: string;
  readonly action: ContentAction;
  find(item: ContentItem, texts: readonly string[]): string | undefined | Promise<string | undefined>;
}

/**
 * Combines rules into one content check. All rules run; the strictest action wins, and the reasons of all are recorded.
 * A rule that throws parks the run.
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
  checkObject("rule", rule, "a rule, such as secretCheck() gives");
  const { name, action } = rule;
  checkText("rule.name", name, 1);
  checkOneOf(`${name}.action`, action, ["quarantine", "park"]);
  checkMethod(name, rule, "find");
}

interface RuleOptions {
  readonly action?: ContentAction;
}

/** The action that the options ask for. */
function actionOf(
  options: RuleOptions,
  fallback: ContentAction,
  more: readonly string[] = [],
): ContentAction {
  checkKeys(options, ["action", ...more]);
  return checkOneOf("action", options.action ?? fallback, ["quarantine", "park"]);
}

/** The total weight of signs that counts as a finding. */
const ENOUGH = 2;
/** These signs only add weight to others. */
const SUPPORTING: ReadonlySet<string> = new Set(["instead", "destination"]);

/**
 * Finds texts that try to give instructions: that revoke earlier ones, pose as a system message, ask for prompts or
 * credentials, or address an AI behind the user's back. It looks for words, so it finds common attacks and misses
 * clever ones: docs/security.md says how many.
 */
export const injectionCheck = (options: RuleOptions = {}): ContentRule => ({
  name: "injection",
  action: actionOf(options, "quarantine"),
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

/** Finds credentials of well-known kinds, the same ones as `redact`. */
export const secretCheck = (options: RuleOptions = {}): ContentRule => ({
  name: "secret",
  action: actionOf(options, "quarantine"),
  find(_, texts) {
    const kinds = DETECTORS.filter(({ pattern }) =>
      texts.some((text) => new RegExp(pattern.source).test(text)),
    );
    return kinds.length === 0 ? undefined : kinds.map(({ kind }) => kind).join(", ");
  },
});

/** Finds values with more text than a run should take in. */
export function sizeCheck(options: RuleOptions & { readonly maxChars: number }): ContentRule {
  const action = actionOf(options, "park", ["maxChars"]);
  const { maxChars } = options;
  checkNumber("maxChars", maxChars);
  return {
    name: "size",
    action,
    find(_, texts) {
      const chars = texts.reduce((sum, text) => sum + text.length, 0);
      return chars > maxChars ? `${chars} characters, at most ${maxChars} are allowed` : undefined;
    },
  };
}

/**
 * Finds values that don't match their schema. Schemas are given by the name of a step, a loop, a memory key or a
 * signal, or as `input` or `config`.
 */
export function schemaCheck(schemas: Schemas, options: RuleOptions = {}): ContentRule {
  checkSchemas("schemas", schemas);
  return {
    name: "schema",
    action: actionOf(options, "quarantine"),
    async find({ name, value }) {
      const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
      const { issues = [] } = (await schema?.["~standard"].validate(value)) ?? {};
      return issues.length === 0
        ? undefined
        : `${issues.length} ${issues.length === 1 ? "problem" : "problems"}`;
    },
  };
}
