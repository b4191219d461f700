import { defined } from "../../core/defined.ts";
import type { JournalEvent } from "../../core/journal/events.ts";
import type { RunState } from "../../core/journal/state.ts";
import {
  approvalOf,
  baseName,
  groupOf,
  isIteration,
  isMember,
  keyOf,
  lastSegment,
  memberName,
  prefixOf,
  segmentsOf,
} from "../../core/keys.ts";
import { DEFINITION_KEY } from "../../yaml/source.ts";
import type { Attempt, Story } from "./stories.ts";

/**
 * Steps as the author of a workflow file knows them: agents, members of groups, items of lists. What an agent does inside them (turns,
 * model calls, tools) is theirs, and is told apart only for those who ask for steps.
 */

/** What happens in a turn of an agent. */
const INNER = /^(?:model|tool:.*)$/s;
const TOOL = /^tool:/;

/** `planner[0]/model` is `planner`; `checks[style]/style[1]/tool:read` is `checks[style]`; anything else is itself. */
export function unitOf(step: string): string {
  const parts = segmentsOf(step);
  const turn = parts.at(-2) ?? "";
  if (!isIteration(turn) || !isInner(step)) return step;
  const agent = groupOf(turn);
  parts.splice(-2, 2, agent);
  const holder = parts.at(-2);
  const isPartOfHolder = holder !== undefined && (isMember(holder) || isOwn(agent, holder));
  return keyOf(isPartOfHolder ? parts.slice(0, -1) : parts);
}

function isInner(step: string): boolean {
  const approval = approvalOf(step);
  return approval ? TOOL.test(lastSegment(approval.step)) : INNER.test(lastSegment(step));
}

/** An agent with a validator or a time limit is a step of its own with both inside. */
function isOwn(agent: string, holder: string): boolean {
  return baseName(agent).replace(/ \((?:validator|dialog)\)$/, "") === baseName(holder);
}

/** Whether a run is one of a workflow file: it keeps the file in its memory. */
export const isFileRun = (state: RunState): boolean =>
  state.memory.some(({ name }) => name === DEFINITION_KEY);

/** How a run's steps are called; as they are where it is no file's, or where every step is asked for. */
export const namesIn =
  (state: RunState, everyStep = false): ((step: string) => string) =>
  (step) =>
    !everyStep && isFileRun(state) ? unitOf(step) : step;

/** The agent that has ended with this event, where it has no step of its own that says so. */
export function endedAgent(event: JournalEvent): string | undefined {
  if (event.kind !== "loop_advanced" || !event.meta.done) return undefined;
  return unitOf(`${prefixOf(memberName(event.step, 0))}model`) === event.step ? event.step : undefined;
}

/** The same stories with what agents did inside folded into one for each. `ended`: agents that have answered, and where. */
export function unitStories(
  stories: readonly Story[],
  ended: ReadonlyMap<string, { readonly seq: number; readonly at: number }>,
): Story[] {
  const units = new Map<string, Story[]>();
  for (const story of stories) {
    const unit = unitOf(story.step);
    units.set(unit, [...(units.get(unit) ?? []), story]);
  }
  return [...units].map(([unit, all]) => {
    const own = all.find(({ step }) => step === unit);
    const inner = all.filter((one) => one !== own);
    return inner.length === 0 && own ? own : folded(unit, own, inner, ended.get(unit));
  });
}

const STATES = ["in doubt", "failed", "under way"] as const;

function folded(
  unit: string,
  own: Story | undefined,
  inner: readonly Story[],
  end: { readonly seq: number; readonly at: number } | undefined,
): Story {
  const last = inner.at(-1) as Story;
  // The last word is the unit's own; before that, what is the matter inside it.
  const state = end
    ? "done"
    : own && own.state !== "under way"
      ? own.state
      : (STATES.find((one) => inner.some((story) => story.state === one)) ?? "under way");
  const attempts = inner.flatMap((one) => one.attempts);
  const sum = (of: (attempt: Attempt) => number): number => attempts.reduce((all, one) => all + of(one), 0);
  const closing = own?.attempts.at(-1) ?? last.attempts.at(-1);
  const endedAt = end?.at ?? (state === "under way" ? undefined : closing?.endedAt);
  const failing = inner.findLast((one) => one.state === "failed" || one.state === "in doubt");
  const seq = (state === "done" ? closing?.seq : failing?.attempts.at(-1)?.seq) ?? closing?.seq;
  return {
    ...(own ?? last),
    step: unit,
    type: "call",
    state,
    seq: end?.seq ?? own?.seq ?? last.seq,
    attempts: [
      {
        attempt: last.attempts.at(-1)?.attempt ?? 1,
        startedAt: (own ?? inner[0] ?? last).attempts[0]?.startedAt ?? 0,
        usage: {
          tokens: sum((one) => one.usage?.tokens ?? 0),
          costUsd: sum((one) => one.usage?.costUsd ?? 0),
        },
        ...defined({ endedAt }),
        ...(state === "under way" ? {} : { outcome: state }),
        ...defined({ seq }),
      },
    ],
  };
}
