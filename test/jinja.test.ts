import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../src/core/errors.ts";
import { condition, render } from "../src/yaml/template/template.ts";
import { type Answer, reference } from "./support/jinja/reference.ts";
import { missing } from "./support/services/service.ts";

/** A template, or one whose outcome differs from Jinja's on purpose: refused here, or accepted where Jinja fails. */
type Snippet =
  | string
  | { readonly template: string; readonly outcome: "refused" | "given"; readonly why: string };

const folder = path.join(import.meta.dirname, "data", "jinja");
const { data, groups } = JSON.parse(readFileSync(path.join(folder, "corpus.json"), "utf8")) as {
  readonly data: Readonly<Record<string, unknown>>;
  readonly groups: Readonly<Record<string, readonly Snippet[]>>;
};
const { conditions, refused } = JSON.parse(readFileSync(path.join(folder, "conditions.json"), "utf8")) as {
  readonly conditions: readonly string[];
  readonly refused: readonly string[];
};
const snippets = Object.values(groups).flat();
const templateOf = (snippet: Snippet): string => (typeof snippet === "string" ? snippet : snippet.template);

const answers = reference({ data, templates: snippets.map(templateOf), conditions });
const isThere = !("missing" in answers) || missing("Jinja2", answers.missing) === "";

/** Any error other than a refusal of the template is a defect. */
function told(work: () => string | boolean): Answer {
  try {
    return { text: work() };
  } catch (error) {
    if (HoldfastError.is(error, "HF-4002")) return { error: error.message };
    throw error;
  }
}

/** The disagreement between the two, if any. */
function disagreement(snippet: Snippet, there: Answer): string | undefined {
  const here = told(() => render(templateOf(snippet), data, "here"));
  const outcome = typeof snippet === "string" ? "equal" : snippet.outcome;
  const shown = `${JSON.stringify(templateOf(snippet))}\n  Jinja2:   ${JSON.stringify(there)}\n  Holdfast: ${JSON.stringify(here)}`;
  if (outcome === "refused") return "error" in here ? undefined : `not refused: ${shown}`;
  if (outcome === "given") return "text" in here && "error" in there ? undefined : `not as said: ${shown}`;
  if ("error" in here && "error" in there) return undefined;
  return "text" in here && "text" in there && here.text === there.text ? undefined : shown;
}

describe.runIf(isThere)("templates beside the real Jinja2 (Y2, Y3)", () => {
  const { templates, conditions: conditionAnswers } =
    "missing" in answers ? { templates: [], conditions: [] } : answers;

  it("are held to a corpus of at least 400 snippets", () => {
    expect(snippets.length).toBeGreaterThanOrEqual(400);
  });

  it.each(Object.entries(groups))("come to the same text, or are refused: %s", (_, group) => {
    const wrong = group.map((snippet) =>
      disagreement(snippet, templates[snippets.indexOf(snippet)] as Answer),
    );
    expect(wrong.filter((one) => one !== undefined).join("\n")).toBe("");
  });

  it("have conditions that hold when Python says so", () => {
    const wrong = conditions.map((when, index) => {
      const there = conditionAnswers[index] as Answer;
      const here = told(() => condition(when, data, "here"));
      const agree = "error" in there ? "error" in here : "text" in here && here.text === there.text;
      return agree ? undefined : `${when}: Python ${JSON.stringify(there)}, Holdfast ${JSON.stringify(here)}`;
    });
    expect(wrong.filter((one) => one !== undefined).join("\n")).toBe("");
  });

  it.each(refused)("refuse what simple conditions do not have: %s", (when) => {
    expect(told(() => condition(when, data, "here"))).toHaveProperty("error");
  });
});
