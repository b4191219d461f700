import type { CommandContext } from "../context.ts";
import type { Outcome } from "../outcome.ts";

/** Acts that queues and schedules share: both are documents with a name. */
type Noun = "queue" | "schedule";

/** Pauses or resumes one by its name; `done` ends the sentence that says so. */
export async function changeNamed(
  context: CommandContext<unknown>,
  noun: Noun,
  verb: "pause" | "resume",
  done: string,
): Promise<Outcome> {
  const [name = ""] = context.args;
  const engine = await context.engine();
  const act = await context.act(`${noun}s ${verb}`);
  return { data: { [noun]: await engine[`${noun}s`][verb](name, act) }, text: `✓ ${name} ${done}` };
}

/** Deletes one by its name; runs stay. */
export async function deleteNamed(context: CommandContext<unknown>, noun: Noun): Promise<Outcome> {
  const [name = ""] = context.args;
  const act = await context.act(`${noun}s delete`);
  const engine = await context.engine();
  await engine[`${noun}s`].delete(name, act);
  return { data: { [noun]: name, deleted: true }, text: `✓ ${name} is deleted` };
}
