import { plural } from "../../values/amounts.ts";
import type { EffectFinding, EffectReport } from "../reports/effects.ts";
import { type Block, moment, type Section, type Verdict } from "./page.ts";
import { CONCERNS, ROOT_CAUSES } from "./root-causes.ts";

export function effectVerdict({ begun, violations, unknown, findings }: EffectReport): Verdict {
  const all = begun.keyed + begun.once;
  if (violations > 0)
    return { tone: "bad", text: `${plural(violations, "broken promise")} about calls with effects.` };
  const open = findings.filter(isOpenFinding).length;
  if (open > 0)
    return { tone: "open", text: `No duplicate effect. ${plural(open, "outcome")} still unknown.` };
  const doubts = unknown === 0 ? "" : ` ${plural(unknown, "unknown outcome")} settled.`;
  return { tone: "good", text: `No duplicate effect among ${plural(all, "call")} with effects.${doubts}` };
}

const isOpenFinding = ({ concern, settled }: EffectFinding): boolean => concern === "unknown" && !settled;

/** Calls that weren't plainly made once, why, and who settled it. */
export function effectSection(report: EffectReport): Section {
  const { begun, findings, unknown, calledAgain, violations } = report;
  return {
    id: "effects",
    title: "Idempotency violation report",
    lead: "Calls with effects outside (classes keyed and once) that weren't plainly made once, with their root cause. A violation is only what breaks a promise; the others are what the promises are for.",
    blocks: [
      { kind: "verdict", verdict: effectVerdict(report) },
      {
        kind: "facts",
        facts: [
          ["Calls begun", `${begun.keyed} keyed, ${begun.once} once`],
          ["Violations", String(violations)],
          ["Outcome unknown", `${unknown} (${findings.filter(isOpenFinding).length} still open)`],
          ["Called again, same key", String(calledAgain)],
        ],
      },
      {
        kind: "table",
        caption: "Findings",
        columns: [
          { title: "At (UTC)", look: "short" },
          { title: "Run", look: "code" },
          { title: "Step", look: "code" },
          { title: "Class" },
          { title: "Key", look: "code" },
          { title: "Finding" },
          { title: "Cause" },
          { title: "Settled" },
        ],
        rows: findings.map((one) => [
          moment(one.at),
          one.run,
          one.step === "" ? "the whole run" : one.step,
          one.effect,
          one.key ?? "",
          `${one.isViolation ? "✗ violation: " : ""}${one.concern}`,
          one.cause,
          settledText(one),
        ]),
        empty: "There is no finding: every call was plainly made once.",
      },
      ...causes(findings),
    ],
  };
}

function settledText({ settled, concern }: EffectFinding): string {
  if (!settled) return concern === "unknown" ? "still open" : "–";
  const by = settled.actor === undefined ? "" : ` by ${settled.actor}`;
  const why = settled.reason === undefined ? "" : `: ${settled.reason}`;
  return `${settled.how}${by}, ${moment(settled.at)}${why}`;
}

/** Root causes with how often, the most frequent first. */
function causes(findings: readonly EffectFinding[]): Block[] {
  const groups = new Map<string, EffectFinding[]>();
  for (const one of findings) {
    const name = `${one.concern}\n${one.root}`;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  if (groups.size === 0) return [];
  const sorted = [...groups.values()].sort((a, b) => b.length - a.length);
  return [
    {
      kind: "table",
      caption: "Root causes",
      columns: [
        { title: "Finding" },
        { title: "Times", look: "number" },
        { title: "Meaning" },
        { title: "Root cause" },
        { title: "What prevents it" },
      ],
      rows: sorted.flatMap((group) => {
        const [first] = group;
        if (!first) return [];
        const { why, remedy } = ROOT_CAUSES[first.root];
        return [[first.concern, String(group.length), CONCERNS[first.concern], why, remedy]];
      }),
      empty: "",
    },
  ];
}
