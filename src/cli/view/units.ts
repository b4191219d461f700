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
import type { Attempt, Story } from "../../core/manage/reports/stories.ts";
import { DEFINITION_KEY } from "../../yaml/source.ts";

/**
 * Steps as the author of a workflow file knows them: agents, members of groups, items of lists. An agent's inner steps
 * (turns, model calls, tools) belong to it, and are shown separately only on request.
 */

/** Steps inside a turn of an agent. */
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

/** An agent with a validator or a time limit is its own step with both inside. */
function isOwn(agent: string, holder: string): boolean {
  return baseName(agent).replace(/ \((?:validator|dialog)\)$/, "") === baseName(holder);
}

/** True when a run belongs to a workflow file: it keeps the file in its memory. */
export const isFileRun = (state: RunState): boolean =>
  state.memory.some(({ name }) => name === DEFINITION_KEY);

/** The displayed names of a run's steps; unchanged without a workflow file, or when every step is requested. */
export const namesIn =
  (state: RunState, everyStep = false): ((step: string) => string) =>
  (step) =>
    !everyStep && isFileRun(state) ? unitOf(step) : step;

/** The agent that ended with this event, if it has no step of its own that says so. */
export function endedAgent(event: JournalEvent): string | undefined {
  if (event.kind !== "loop_advanced" || !event.meta.done) return undefined;
  return unitOf(`${prefixOf(memberName(event.step, 0))}model`) === event.step ? event.step : undefined;
}

/**
 * Stories with the inner steps of agents folded into one each. `ended`: agents that have answered, and the position.
 */
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
  // The unit's own end counts; before that, the state inside it.
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
