import { HoldfastError } from "../errors.ts";
import { hasActed, isSettled, mayHaveActed, type ScopeNode, type StepRecord } from "../journal/records.ts";
import { isUnresolved } from "../journal/rename.ts";
import type { RunState } from "../journal/state.ts";
import { about } from "../journal/wait-reason.ts";
import { isMember, plainPath, prefixOf, UNDO } from "../keys.ts";
import { listed } from "../listed.ts";
import type { Admission, Admitted, Guard } from "./guard.ts";
import type { GuardedPlace, GuardedRun } from "./port.ts";

/** A recorded effect that the body must ask for when it reaches it again. */
interface Recorded {
  readonly key: string;
  /** The group members that contain it, as recorded: a group may be decided before it reaches all of them. */
  readonly members: readonly Member[];
  /** True when a person said that it need not be asked for. */
  readonly isWaived: () => boolean;
}

interface Member {
  readonly key: string;
  readonly record: StepRecord;
}

/**
 * Protects a resumed run from changed code. A step with effects that the new code has renamed looks like a new step,
 * and would happen again. So while the journal holds effects that the body hasn't asked for, new ones are held back:
 * until they are asked for, or until nothing more happens; then the run waits for a person who knows what the change
 * means.
 */
export class CodeGuard implements Guard {
  readonly #execution: GuardedRun;
  readonly #asked = new Set<string>();
  #left: readonly Recorded[];
  #held = 0;

  private constructor(execution: GuardedRun, left: readonly Recorded[]) {
    this.#execution = execution;
    this.#left = left;
  }

  /** Returns `undefined` for a run without recorded effects: nothing could happen again. */
  static of(execution: GuardedRun, state: RunState): CodeGuard | undefined {
    const left = [...recordedEffects(state.root)];
    return left.length === 0 ? undefined : new CodeGuard(execution, left);
  }

  /** Called when the body reaches a call with this key. */
  asked(key: string): void {
    if (this.#left.length === 0) return;
    this.#asked.add(key);
    const last = this.#left.at(-1) as Recorded;
    // The last recorded effect is usually asked for last: until then the others need not be checked.
    if (this.#held > 0 && !this.#isMissing(last) && this.#missing().length === 0)
      this.#execution.wakeGuards();
  }

  admit({ place, intent }: Admission): Admitted | Promise<Admitted> {
    if (intent.effect === "repeatable" || intent.attempt > 1) return undefined;
    return this.hold(place).then(() => undefined);
  }

  /** Holds back a new effect while recorded ones are missing. */
  async hold({ key, scope }: GuardedPlace): Promise<void> {
    const { deps, workflow, compensating } = this.#execution;
    const isNew = workflow.migrations.some(({ add }) => add?.includes(plainPath(key)));
    if (isNew || compensating) return;
    for (let missing = this.#missing(); missing.length > 0; missing = this.#missing()) {
      const names = listed(missing.map((one) => one.key));
      const problem = new HoldfastError("HF-2121", { step: key, missing: names });
      this.#held++;
      const reason = about(problem, problem.why);
      const waiting = { kind: "migration", step: key, since: deps.time.now(), ...reason } as const;
      await this.#execution.wait(key, waiting, scope.frame);
      this.#held--;
    }
  }

  /** The keys of recorded effects that the body hasn't asked for. */
  missing(): readonly string[] {
    return this.#missing().map(({ key }) => key);
  }

  /** Those of them with an unknown outcome. */
  unresolved(): readonly string[] {
    const { state } = this.#execution;
    return this.missing().filter((key) => {
      const record = state.find(key);
      return record !== undefined && isUnresolved(record);
    });
  }

  #missing(): readonly Recorded[] {
    this.#left = this.#left.filter((one) => !this.#asked.has(one.key) && !one.isWaived());
    return this.#left.filter((one) => this.#isMissing(one));
  }

  #isMissing({ key, members, isWaived }: Recorded): boolean {
    if (this.#asked.has(key) || isWaived()) return false;
    const isPassedOver = ({ key: member, record }: Member): boolean =>
      this.#asked.has(member) && this.#execution.state.find(member) === record;
    return !members.some(isPassedOver);
  }
}

/** Every effect that an unchanged body asks for, or the finished step that contains it. */
function* recordedEffects(
  node: ScopeNode,
  prefix = "",
  members: readonly Member[] = [],
): Generator<Recorded> {
  for (const [name, loop] of node.loops)
    if (loop.acted) yield { key: prefix + name, members, isWaived: () => !loop.acted };
  for (const [name, record] of node.records) {
    const acted = mayHaveActed(record) || (isSettled(record) && hasActed(node.scopes.get(name)));
    if (acted && !record.waived)
      yield { key: prefix + name, members, isWaived: () => record.waived ?? false };
  }
  for (const [name, scope] of node.scopes) {
    const record = node.records.get(name);
    if ((record && isSettled(record)) || prefix + name === UNDO) continue;
    const member = record && isMember(name) ? [{ key: prefix + name, record }] : [];
    yield* recordedEffects(scope, prefix + prefixOf(name), [...members, ...member]);
  }
}
