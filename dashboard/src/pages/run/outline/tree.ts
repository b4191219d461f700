import { groupOf, isMember, lastSegment, outerOf } from "../../../../../src/core/keys.ts";
import type { AnswerOf } from "../../../api/client.ts";

export type Outline = AnswerOf<"getOutline">;
export type Step = Outline["steps"][number];
export type State = Step["state"] | "not started";

/**
 * What a node is drawn as. `items` are branches that run side by side, a `loop` has turns, a `phase` has rounds, an
 * `agent` has turns or subtasks, and a `scope` is a step that has steps inside.
 */
export type Kind =
  | "step"
  | "scope"
  | "items"
  | "item"
  | "loop"
  | "turn"
  | "phase"
  | "round"
  | "layer"
  | "agent";

export interface Counts {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly open: number;
}

/** A step, or something that steps are in. */
export interface Node {
  /** The key of the step, or of the group; unique. */
  readonly key: string;
  readonly name: string;
  readonly kind: Kind;
  readonly step: Step | null;
  readonly state: State;
  readonly children: readonly Node[];
  /** Of its children. */
  readonly counts: Counts;
  /** What was noted in it, such as a confidence that is too low. */
  readonly notes: readonly string[];
}

type Parts = Pick<Outline, "steps" | "pending" | "loops" | "agents" | "marks">;

interface Draft {
  readonly key: string;
  step: Step | null;
  isPending: boolean;
  readonly children: Draft[];
}

/** The steps of a run as what they are: agents with subtasks, phases with rounds, layers, loops with turns, branches. */
export function treeOf(outline: Parts): readonly Node[] {
  const drafts = new Drafts();
  for (const step of outline.steps) drafts.place(step.step).step = step;
  for (const key of outline.pending) drafts.expect(key);
  const names = new Names(outline);
  return drafts.top.flatMap((draft) => finished(draft, names));
}

class Drafts {
  readonly top: Draft[] = [];
  readonly #known = new Map<string, Draft>();

  place(key: string): Draft {
    const known = this.#known.get(key);
    if (known) return known;
    const draft: Draft = { key, step: null, isPending: false, children: [] };
    this.#known.set(key, draft);
    const outer = isMember(lastSegment(key)) ? groupOf(key) : outerOf(key);
    (outer === "" ? this.top : this.place(outer).children).push(draft);
    return draft;
  }

  expect(key: string): void {
    if (!this.#known.has(key)) this.place(key).isPending = true;
  }
}

/** What groups are, by what the run has told of them. */
class Names {
  readonly #loops: ReadonlyMap<string, boolean>;
  readonly #agents: ReadonlySet<string>;
  readonly #phases = new Set<string>();
  readonly #layers = new Set<string>();
  readonly #notes = new Map<string, string[]>();

  constructor({ loops, agents, marks }: Parts) {
    this.#loops = new Map(loops.map(({ loop, done }) => [loop, done]));
    this.#agents = new Set(agents.map(({ agent }) => agent));
    for (const { step, label, trigger } of marks) {
      const around = outerOf(step);
      const group = groupOf(around);
      if (/^layer-\d+$/.test(label)) this.#layers.add(group);
      else if (trigger.startsWith("phase_")) this.#phases.add(group);
      if (trigger !== "confidence_threshold_crossed") continue;
      const notes = this.#notes.get(around) ?? [];
      this.#notes.set(around, [...notes, label]);
    }
  }

  isLoop(key: string): boolean {
    return this.#loops.has(key);
  }

  isDone(key: string): boolean | undefined {
    return this.#loops.get(key);
  }

  notesOf(key: string): readonly string[] {
    return this.#notes.get(key) ?? [];
  }

  kindOf(draft: Draft): Kind {
    const { key, step, children } = draft;
    if (children.length === 0) return "step";
    if (this.#layers.has(key)) return "layer";
    if (this.#phases.has(key)) return "phase";
    if (this.#agents.has(lastSegment(key))) return "agent";
    if (this.isLoop(key)) return "loop";
    const isGroup = children.some((child) => isMember(child.key) && groupOf(child.key) === key);
    return isGroup && !step ? "items" : "scope";
  }
}

const MEMBERS: Readonly<Partial<Record<Kind, Kind>>> = {
  items: "item",
  loop: "turn",
  agent: "turn",
  phase: "round",
  layer: "layer",
};

/** A draft as one node; a loop of layers as its layers. */
function finished(draft: Draft, names: Names): readonly Node[] {
  const kind = names.kindOf(draft);
  const members = draft.children.flatMap((child) => {
    const inner = finished(child, names);
    const asMember = isMember(child.key) && groupOf(child.key) === draft.key ? MEMBERS[kind] : undefined;
    return inner.map((node) => (asMember ? { ...node, kind: asMember, name: memberOf(child.key) } : node));
  });
  if (kind === "layer") return members.map((node) => ({ ...node, name: countedFromOne(node.name) }));
  const children = isSingle(kind, members) ? (members[0]?.children ?? []) : members.map(numbered);
  const notes = [...names.notesOf(draft.key), ...(isSingle(kind, members) ? (members[0]?.notes ?? []) : [])];
  const isLoopDone = names.isDone(draft.key);
  const state = stateOf(draft, children, isLoopDone);
  return [
    {
      key: draft.key,
      name: lastSegment(draft.key),
      kind,
      step: draft.step,
      state,
      children,
      counts: countsOf(children),
      notes,
    },
  ];
}

/** A phase or an agent that went through once needs no level for that. */
const isSingle = (kind: Kind, members: readonly Node[]): boolean =>
  (kind === "phase" || kind === "agent") &&
  members.length === 1 &&
  (members[0]?.kind === "turn" || members[0]?.kind === "round");

const memberOf = (key: string): string => key.slice(key.lastIndexOf("[") + 1, -1);

const countedFromOne = (name: string): string => (/^\d+$/.test(name) ? String(Number(name) + 1) : name);

const numbered = (node: Node): Node =>
  node.kind === "turn" || node.kind === "round" ? { ...node, name: countedFromOne(node.name) } : node;

function stateOf({ step, isPending }: Draft, children: readonly Node[], isLoopDone?: boolean): State {
  if (step) return step.state;
  if (isPending) return "not started";
  const has = (state: State): boolean => children.some((child) => child.state === state);
  if (has("in doubt")) return "in doubt";
  if (has("under way")) return "under way";
  if (has("failed")) return "failed";
  if (children.every((child) => child.state === "not started")) return "not started";
  return isLoopDone === false || has("not started") ? "under way" : "done";
}

function countsOf(children: readonly Node[]): Counts {
  let done = 0;
  let failed = 0;
  let open = 0;
  for (const { state } of children) {
    if (state === "done") done++;
    if (state === "failed" || state === "in doubt") failed++;
    if (state === "under way") open++;
  }
  return { done, total: children.length, failed, open };
}
