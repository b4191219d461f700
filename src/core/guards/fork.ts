import { HoldfastError } from "../errors.ts";
import { Ancestry, type PastCall } from "../journal/ancestry.ts";
import { forkName, isUndo } from "../keys.ts";
import { askApproval } from "./approval.ts";
import type { Admission, Admitted, Guard } from "./guard.ts";
import { inspectForeign } from "./inspector.ts";
import type { GuardedRun } from "./port.ts";

/**
 * Guards the `keyed` and `once` steps of a fork. What the source has done, or may have done, isn't repeated unless the
 * fork's policy or a person says so. Asked again for every attempt, because an intent alone doesn't prove a call.
 */
export function forkGuard(execution: GuardedRun): Guard | undefined {
  const { fork } = execution.state.facts;
  if (!fork || fork.effects === "allow") return undefined;
  const source = new Ancestry(execution.deps.store, execution.writer.row);
  return {
    async admit(admission): Promise<Admitted> {
      const { effect } = admission.intent;
      // Work of this run itself is undone by it.
      if (effect === "repeatable" || isUndo(admission.place.key)) return undefined;
      const past = await execution.busy(source.find(admission.place.key, execution.state.facts.hops));
      if (fork.effects === "simulate") return simulate(admission, past);
      if (!past) return undefined;
      return fork.effects === "block" ? block(admission, past) : reuse(admission, past);
    },
  };
}

async function reuse(admission: Admission, past: PastCall): Promise<Admitted> {
  if (past.status !== "completed")
    return ask(
      admission,
      past,
      ["call", "done"],
      "Its source has begun it, and what came of it is not known.",
    );
  if (past.args !== admission.intent.args)
    return ask(admission, past, ["call", "reuse"], "Its source has called it with other arguments.");
  return (await taken(admission, past, "reused")) ?? ask(admission, past, ["call", "done"], GONE);
}

function block(admission: Admission, past: PastCall): Promise<Admitted> {
  const choices = past.status === "completed" ? ["call", "reuse"] : ["call"];
  return ask(admission, past, choices, "Its source has called it already.");
}

async function simulate(admission: Admission, past: PastCall | undefined): Promise<Admitted> {
  const isSame = past?.status === "completed" && past.args === admission.intent.args;
  const recorded = isSame ? await taken(admission, past, "simulated") : undefined;
  if (recorded) return recorded;
  const made = admission.options.simulate ? await callSimulation(admission) : undefined;
  return made ?? ask(admission, past, ["call"], "There is nothing recorded to simulate it with.");
}

const GONE = "Its source has called it, and the result is not kept any more.";

/** The source's recorded value; `undefined` when retention has dropped it. */
async function taken(
  { execution, place }: Admission,
  { runId, seq }: PastCall,
  instead: "reused" | "simulated",
): Promise<Admitted> {
  try {
    const value = await execution.busy(execution.deps.values.at(runId, seq));
    return { value: await inspectForeign(execution, place.key, value), instead };
  } catch (error) {
    if (HoldfastError.is(error, "HF-1023")) return undefined;
    throw error;
  }
}

/** A hook that throws has given no answer. */
async function callSimulation({ execution, place, simulate }: Admission): Promise<Admitted> {
  try {
    return { value: await simulate(), instead: "simulated" };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const problem = new HoldfastError("HF-2111", { verb: "simulate", step: place.key, message });
    execution.deps.ports.logger.error(problem.message, { runId: execution.runId, code: problem.code });
    return undefined;
  }
}

/** Asks a person, once for this step and these arguments. */
async function ask(
  admission: Admission,
  past: PastCall | undefined,
  choices: readonly string[],
  why: string,
): Promise<Admitted> {
  const { place, intent } = admission;
  const { code, message } = new HoldfastError("HF-2120", { step: place.key, why });
  const source = past ? { source: past.runId, outcome: past.status } : {};
  const own = {
    ...admission,
    place: { ...place, name: forkName(place.name) },
    intent: { ...intent, attempt: 1 },
  };
  const answer = await askApproval(own, { about: { why: `${code} ${message} ${why}`, ...source }, choices });
  if (answer.choice === "done") return { value: undefined, instead: "reused" };
  if (answer.choice !== "reuse" || !past) return undefined;
  return (await taken(admission, past, "reused")) ?? ask(admission, past, ["call", "done"], GONE);
}
