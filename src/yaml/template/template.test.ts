import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../core/errors.ts";
import { condition, render } from "./template.ts";

const data = {
  workflow: { input: { who: "Ada", n: 3, none: null, list: ["b", "a"], deep: { x: { y: 1 } } }, name: "w" },
  planner: {
    output: {
      plan: "P",
      approved: true,
      items: [
        { id: 2, ok: true },
        { id: 1, ok: false },
      ],
    },
  },
};

const problem = (template: string): string => {
  try {
    return `rendered ${render(template, data, "here")}`;
  } catch (error) {
    return HoldfastError.is(error, "HF-4002") ? error.message : `threw ${String(error)}`;
  }
};

describe("a template", () => {
  it.each([
    ["Hello {{ workflow.input.who }}!\n", "Hello Ada!\n"],
    ["{{ planner.output.approved }} {{ workflow.input.none }} {{ 7 // 2 }} {{ 1.5 }}", "True None 3 1.5"],
    ["{{ workflow.input.list }} {{ workflow.input.deep }}", '["b","a"] {"x":{"y":1}}'],
    ["{{ workflow.input.deep | json }}", '{\n  "x": {\n    "y": 1\n  }\n}'],
    ["{{ workflow.input.list | tojson }}", '["b", "a"]'],
    ["{{ nobody.output.x | default('-') }}{{ workflow.input.none | default('!') }}", "-!"],
    ["{% if planner is defined and planner.output.plan %}yes{% else %}no{% endif %}", "yes"],
    ["{% if critic is defined %}yes{% else %}no{% endif %}", "no"],
    [
      "{% for i in planner.output.items %}{{ loop.index }}:{{ i.id }}{% if not loop.last %}, {% endif %}{% endfor %}",
      "1:2, 2:1",
    ],
    ["{% for i in planner.output.items if i.ok %}{{ i.id }}{% endfor %}", "2"],
    ["{% for k, v in workflow.input.deep.items() %}{{ k }}={{ v.y }}{% endfor %}", "x=1"],
    ["{% for x in [] %}a{% else %}none{% endfor %}", "none"],
    ["{{ planner.output.items | map(attribute='id') | sort | join('-') }}", "1-2"],
    ["{{ planner.output.items | selectattr('ok') | list | length }}", "1"],
    ["{{ planner.output.items | rejectattr('id', 'equalto', 2) | map(attribute='id') | first }}", "1"],
    ["{{ 'a' in workflow.input.list }} {{ 'z' not in workflow.input.list }}", "True True"],
    ["{{ workflow.input.who if workflow.input.n > 2 else 'x' }}", "Ada"],
    [
      "{% set total = namespace(n=0) %}{% for i in range(4) %}{% set total.n = total.n + i %}{% endfor %}{{ total.n }}",
      "6",
    ],
    ["{% macro hi(name, mark='!') %}hi {{ name }}{{ mark }}{% endmacro %}{{ hi('Bo') }}", "hi Bo!"],
    [
      "{{ 'a,b'.split(',') | length }} {{ 'x'.upper() }} {{ workflow.input.list[-1] }} {{ 'abc'[1:] }}",
      "2 X a bc",
    ],
    ["{%- if true -%}\n  tight\n{%- endif -%}", "tight"],
  ])("renders %s", (template, text) => {
    expect(render(template, data, "here")).toBe(text);
  });

  it("names what is not there, where, and what was probably meant", () => {
    expect(problem("{{ workflow.input.whom }}")).toBe(
      "The template of here cannot be rendered: workflow.input.whom is not defined; did you mean who? Known here: who, n, none, list, deep.",
    );
    expect(problem("{{ plannr.output.plan }}")).toContain("did you mean planner?");
    expect(problem("{% for x in nothing %}{% endfor %}")).toContain("nothing is not defined");
    expect(problem("{{ planner.output.items[7].id }}")).toContain("is not defined");
    expect(problem("{{ workflow.input.n + 'x' }}")).toContain("a number and a text cannot be added");
    expect(problem("{{ workflow.input.n / 0 }}")).toContain("division by zero");
  });

  it("is rendered once: what it puts in stays as it is", () => {
    const bait = "{{ workflow.input.who }}{% for x in range(9) %}!{% endfor %}{# c #}";
    expect(render("{{ bait }} and {{ [bait] }}", { bait }, "here")).toBe(
      `${bait} and ${JSON.stringify([bait])}`,
    );
    expect(render("{% set x %}{{ bait }}{% endset %}{{ x }}", { bait }, "here")).toBe(bait);
  });

  it("cannot grow without end", () => {
    expect(problem("{% for i in range(100000) %}x{% endfor %}")).toContain("range() may make");
    const nested = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
    expect(problem(nested)).toContain("too long");
    expect(problem("{{ 'x' * 99999999 }}")).toContain("more than 1048576 characters");
    expect(problem("{% set a = 'a' * 9999 %}{{ a | replace('a', a) }}")).toContain(
      "more than 1048576 characters",
    );
    expect(problem("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")).toContain("cannot be rendered");
    const doubling = `{% set x = 'xxxxxxxxxxxxxxxx' %}${"{% set x = x ~ x %}".repeat(22)}{{ x }}`;
    expect(problem(doubling)).toContain("more than 1048576 characters");
  });
});

/** Published ways to escape from template engines. */
const ESCAPES = [
  "{{ ''.__class__ }}",
  "{{ ''.__class__.__mro__[1].__subclasses__() }}",
  "{{ [].__class__.__base__ }}",
  "{{ workflow.__proto__ }}",
  "{{ workflow['__proto__'] }}",
  "{{ workflow['__pro' ~ 'to__'] }}",
  "{{ workflow.constructor }}",
  "{{ workflow.constructor.constructor('return process')() }}",
  "{{ ''.constructor }}",
  "{{ ['a'].constructor }}",
  "{{ workflow.input.list.constructor.constructor('return 1')() }}",
  "{{ 'x'.at.constructor('return 1')() }}",
  "{{ range.constructor('return process.env')() }}",
  "{{ self.__init__.__globals__ }}",
  "{{ config.items() }}",
  "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
  "{{ lipsum.__globals__['os'].popen('id').read() }}",
  "{{ request.application.__globals__ }}",
  "{{ process.env }}",
  "{{ globalThis }}",
  "{{ require('fs') }}",
  "{{ this }}",
  "{{ workflow.toString() }}",
  "{{ workflow.hasOwnProperty('x') }}",
  "{{ workflow | attr('__class__') }}",
  "{{ workflow | map(attribute='__proto__') | list }}",
  "{{ 'x' | map('constructor') }}",
  "{{ {}['constructor'] }}",
  "{{ {'__proto__': 1} }}",
  "{% set __proto__ = 1 %}{{ __proto__ }}",
  "{% for constructor in [1] %}{{ constructor }}{% endfor %}",
  "{% import 'os' as os %}{{ os }}",
  "{% include '/etc/passwd' %}",
  "{% extends 'x' %}",
  "{{ dict(constructor=1) }}",
  "{{ namespace(__proto__=1) }}",
];

describe("the ways out of a template", () => {
  it.each(ESCAPES)("%s leads nowhere", (template) => {
    const told = problem(template);
    expect(told).toMatch(/^The template of here cannot be rendered|^rendered \[(null|,)*\]$/);
  });

  it("are nothing but text when they come in as data", () => {
    for (const bait of ESCAPES) expect(render("{{ bait }}", { bait }, "here")).toBe(bait);
  });
});

describe("a condition", () => {
  it("is a template that comes to yes or no", () => {
    expect(condition("{{ planner.output.approved }}", data, "here")).toBe(true);
    expect(condition("{{ workflow.input.n > 5 }}", data, "here")).toBe(false);
    expect(condition("{{ 'no' }}", data, "here")).toBe(false);
  });

  it("or a simple expression over the fields of output", () => {
    const seen = { ...data, output: { score: 8, status: "ready", ok: false, tags: ["x"] } };
    expect(condition("score >= 7 and status == 'ready'", seen, "here")).toBe(true);
    expect(condition("ok or 'x' in tags", seen, "here")).toBe(true);
    expect(condition("output_score < 7", seen, "here")).toBe(false);
    expect(condition("not ok", seen, "here")).toBe(true);
    expect(() => condition("sccore > 1", seen, "here")).toThrow("did you mean");
  });
});
