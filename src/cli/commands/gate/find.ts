import type { OpenGate } from "../../../core/control/decisions.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { HoldfastError } from "../../../core/errors.ts";
import { endsIn } from "../../../core/keys.ts";
import { didYouMean } from "../../../core/nearest.ts";
import { everyRun } from "../../../core/store/query.ts";
import type { RunRow } from "../../../core/types.ts";
import { splitAddress } from "../../addresses.ts";
import type { CommandContext } from "../../context.ts";

/** Every run that waits at a gate. Reads only rows. */
async function* runsAtGates(context: CommandContext<unknown>): AsyncGenerator<RunRow> {
  const store = await context.store();
  for await (const row of everyRun(store, { status: ["waiting"] }))
    if (row.waiting.some(({ kind }) => kind === "gate")) yield row;
}

/** `run:gate`; or a gate that only one run waits at; or a run that waits at one gate. */
export async function findGate(
  context: CommandContext<unknown>,
  engine: Engine,
  text: string,
  verb: string,
): Promise<OpenGate> {
  const { run, step } = splitAddress(text);
  if (step !== undefined) {
    const row = await (await context.addresses()).run(run);
    return named(await engine.gates(row.id), step, text);
  }
  const found: string[] = [];
  const known: string[] = [];
  for await (const row of runsAtGates(context))
    for (const { kind, step: gate } of row.waiting) {
      if (kind !== "gate") continue;
      known.push(gate);
      if (gate === text || endsIn(gate, text)) found.push(`${row.id}:${gate}`);
    }
  const [only, ...others] = found;
  if (others.length > 0)
    throw new HoldfastError("HF-4352", { gate: text, candidates: found.slice(0, 8).join(", "), verb });
  if (only !== undefined) return findGate(context, engine, only, verb);
  return gateOfRun(context, engine, text, known, verb);
}

async function gateOfRun(
  context: CommandContext<unknown>,
  engine: Engine,
  text: string,
  known: readonly string[],
  verb: string,
): Promise<OpenGate> {
  const row = await (await context.addresses()).run(text).catch((error: unknown) => {
    if (!HoldfastError.is(error, "HF-4303")) throw error;
    throw none(
      text,
      known.length === 0
        ? "No run waits at a gate."
        : `Gates wait for an answer in other runs.${didYouMean(text, known)}`,
    );
  });
  const gates = await engine.gates(row.id);
  const [only, ...others] = gates;
  if (others.length > 0)
    throw new HoldfastError("HF-4352", {
      gate: text,
      candidates: gates.map(({ gate }) => `${row.id}:${gate}`).join(", "),
      verb,
    });
  if (only) return only;
  throw none(text, `Run ${row.id} (${row.status}) waits at no gate.`);
}

function named(gates: readonly OpenGate[], gate: string, text: string): OpenGate {
  const found = gates.find((one) => one.gate === gate) ?? gates.find((one) => endsIn(one.gate, gate));
  if (found) return found;
  const names = gates.map((one) => one.gate);
  throw none(
    text,
    names.length === 0 ? "The run waits at no gate." : `The run waits at: ${names.join(", ")}.`,
  );
}

const none = (gate: string, why: string): HoldfastError => new HoldfastError("HF-4351", { gate, why });
