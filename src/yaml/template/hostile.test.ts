import { describe, expect, it } from "vitest";
import { CONDITIONS, TEMPLATE_DATA, TEMPLATES } from "../../../test/data/hostile-templates.ts";
import { HoldfastError } from "../../core/errors.ts";
import { parseTemplate } from "./parse.ts";
import { type Limits, Renderer } from "./statements.ts";
import { condition, LIMITS, render } from "./template.ts";

/** "text", or "refused" when a template error was thrown; anything else is a defect. */
function ending(work: () => unknown): string {
  try {
    work();
    return "text";
  } catch (error) {
    return HoldfastError.is(error, "HF-4002") ? "refused" : `threw ${String(error)}`;
  }
}

describe("a hostile template (X6)", () => {
  it.each(Object.entries(TEMPLATES))("ends in text or a refusal: %s", (_, template) => {
    expect(ending(() => render(template, TEMPLATE_DATA, "here"))).toMatch(/^(text|refused)$/);
  });

  it.each(Object.entries(CONDITIONS))("ends also as a condition: %s", (_, when) => {
    expect(ending(() => condition(when, TEMPLATE_DATA, "here"))).toMatch(/^(text|refused)$/);
  });
});

/** The least work with which a template renders, to within a twentieth. */
function workOf(template: string, data: Readonly<Record<string, unknown>>): number {
  const parsed = parseTemplate(template);
  if ("problem" in parsed) throw new Error(parsed.problem);
  const fits = (work: number): boolean => {
    const limits: Limits = { ...LIMITS, work };
    try {
      new Renderer(data, limits).render(parsed.body);
      return true;
    } catch {
      return false;
    }
  };
  let [low, high] = [0, LIMITS.work];
  while (high - low > high / 20) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return high;
}

describe("the work of a template", () => {
  it.each([
    "{{ big | upper | length }}",
    "{{ big.split() | length }}",
    "{{ 'zz' in big }}",
    "{{ list | sort | length }}",
    "{{ list | unique | list | length }}",
    "{{ big ~ big | length }}",
    "{% for x in list %}{{ x }}{% endfor %}",
  ])("grows with the size of what it works on: %s", (template) => {
    const sized = (size: number) => ({
      big: "ab ".repeat(size),
      list: Array.from({ length: size }, (_, at) => at),
    });
    const ratio = workOf(template, sized(8_000)) / workOf(template, sized(2_000));
    expect(ratio).toBeGreaterThan(2.5);
    expect(ratio).toBeLessThan(6);
  });
});
