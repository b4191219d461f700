import { type Fact, moment, type Page, type Section, type Verdict } from "./page.ts";
import { capacitySection, capacityVerdict } from "./section-capacity.ts";
import { drillSection, drillVerdict } from "./section-drills.ts";
import { effectSection, effectVerdict } from "./section-effects.ts";
import { recoverySection, recoveryVerdict } from "./section-recoveries.ts";
import { trailSection, trailVerdict } from "./section-trail.ts";
import type { Evidence } from "./types.ts";

/** Evidence in words: what the page says, whichever form it takes. */
export function pageOf(evidence: Evidence): Page {
  const { trail, recoveries, effects, capacity, drills } = evidence;
  const parts: (readonly [Verdict, Section])[] = [];
  if (trail) parts.push([trailVerdict(trail), trailSection(trail)]);
  if (recoveries) parts.push([recoveryVerdict(recoveries), recoverySection(recoveries, effects)]);
  if (effects) parts.push([effectVerdict(effects), effectSection(effects)]);
  if (capacity) parts.push([capacityVerdict(capacity), capacitySection(capacity)]);
  if (drills.length > 0) parts.push([drillVerdict(drills), drillSection(drills)]);
  return {
    title: titleOf(evidence),
    subtitle: spanOf(evidence),
    verdicts: parts.map(([verdict]) => verdict),
    facts: factsOf(evidence),
    sections: [...parts.map(([, section]) => section), limits(evidence)],
  };
}

function titleOf({ subject: { run, month, workflow } }: Evidence): string {
  if (run !== undefined) return `Run ${run}`;
  const about = workflow === undefined ? "" : ` of ${workflow}`;
  if (month === undefined) return `Runs${about}`;
  const name = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
  return `${name.format(new Date(`${month}-01T00:00:00Z`))}${about === "" ? "" : `:${about.slice(3)}`}`;
}

function spanOf({ subject: { run, since, until }, madeAt }: Evidence): string {
  if (run !== undefined)
    return `Everything recorded about this run and the runs it started, up to ${moment(madeAt)} UTC.`;
  const end = until > madeAt ? `${moment(madeAt)} UTC; the period is not over` : `${moment(until)} UTC`;
  return `From ${moment(since)} to ${end}.`;
}

const SURVIVES: Readonly<Record<Evidence["store"]["durability"], string>> = {
  "power-loss": "acknowledged writes survive a power loss",
  process: "acknowledged writes survive the death of a process, not a power loss",
  none: "nothing survives the process",
};

function factsOf({ madeAt, madeBy, store }: Evidence): readonly Fact[] {
  return [
    ["Made", `${moment(madeAt)} UTC by ${madeBy}`],
    ["Store", `${store.kind}: ${SURVIVES[store.durability]}`],
    ["Store id", store.id, "code"],
  ];
}

/** What the reader must not conclude from these pages. */
function limits({ trail, recoveries, effects, capacity }: Evidence): Section {
  const isCut = [trail, recoveries, effects, capacity].some((one) => one?.more);
  return {
    id: "limits",
    title: "What this does not show",
    lead: "Evidence is worth only what it can prove.",
    blocks: [
      {
        kind: "list",
        items: [
          ...(isCut ? ["Not all runs of the period were looked at: the newest ones were."] : []),
          "An intact chain shows that nothing in the middle was changed. Somebody who can write to the database could replace a whole chain, or cut off its end; a signed head or a copy of the heads above, kept where they can't write, shows that.",
          "Runs that were deleted with everything stored about them are not in these pages.",
          "Effects outside are known only as far as steps recorded them: a duplicate that the receiver made by itself is not.",
          "These pages hold no input, output or state of any run. Names, reasons and error messages are as people and programs wrote them.",
          "Times are those of the store's clock, in UTC.",
        ],
      },
    ],
  };
}
