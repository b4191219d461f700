import { resolve } from "node:path";
import type { OpenGate } from "../../../core/control/decisions.ts";
import { defined } from "../../../core/defined.ts";
import { HoldfastError } from "../../../core/errors.ts";
import { readRow } from "../../../core/journal/positions.ts";
import { defineCommand } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { usage } from "../../globals.ts";
import { readJson, readText } from "../../inputs.ts";
import type { Outcome } from "../../outcome.ts";
import { shownText } from "../show/run-text.ts";
import { findGate } from "./find.ts";

/** Choices that a verb stands for, whatever else a gate offers. */
const MEANT = {
  approve: /^(approved?|yes|ok|okay|accept(ed)?|allow|go|continue|proceed)$/i,
  reject: /^(reject(ed)?|no|deny|denied|declined?|refuse|stop|abort)$/i,
} as const;

type Verb = keyof typeof MEANT | "answer";

interface Given {
  readonly choice: string | undefined;
  readonly comment: string | undefined;
  readonly input: string | undefined;
  readonly data: string | undefined;
}

const OPTIONS = {
  choice: { flag: "--choice <choice>", summary: "One of the gate's choices" },
  comment: {
    flag: "--comment <text>",
    summary: "Why: recorded as the reason, and given to the run if the gate takes text",
  },
  input: { flag: "--input <file>", summary: "Text for the run from a file; - reads standard input" },
  data: { flag: "--data <json>", summary: "The data that the gate asks for, as JSON" },
} as const;

export const approve = defineCommand({
  name: "approve",
  summary: "Answer with the choice that approves",
  args: ["<gate>"],
  options: OPTIONS,
  examples: ["gate approve recon-88:approve", 'gate approve pm-signoff --comment "looks right"'],
  run: (context) => decide(context, "approve", context.options),
});

export const reject = defineCommand({
  name: "reject",
  summary: "Answer with the choice that rejects",
  args: ["<gate>"],
  options: OPTIONS,
  examples: ["gate reject recon-88:approve"],
  run: (context) => decide(context, "reject", context.options),
});

export const answer = defineCommand({
  name: "answer",
  summary: "Answer with any of the gate's choices",
  args: ["<gate>"],
  options: OPTIONS,
  examples: ["gate answer recon-88:approve --choice later"],
  run: (context) => decide(context, "answer", context.options),
});

async function decide(context: CommandContext<unknown>, verb: Verb, given: Given): Promise<Outcome> {
  const act = await context.act(`gate ${verb}`, given.comment);
  const engine = await context.engine();
  const gate = await findGate(context, engine, context.args[0] ?? "", verb);
  const address = `${gate.runId}:${gate.gate}`;
  const choice =
    given.choice ?? (verb === "answer" ? await ask(context, gate, address) : meant(gate, verb, address));
  const text = await wordsOf(context, given, gate, address);
  // Bound to what was just read: if the gate shows something else by now, the answer is refused.
  const answered = await engine.answer(gate.runId, gate.gate, {
    ...act,
    choice,
    ...defined({ text, data: given.data === undefined ? undefined : readJson(given.data, "--data") }),
    digest: gate.digest,
  });
  const row = await readRow(await context.store(), gate.runId);
  const next = [`resume ${gate.runId}`];
  return {
    data: { gate: address, ...answered, at: new Date(answered.at).toISOString() },
    text: `✓ ${address}: ${choice} (by ${answered.actor})\n  ${await context.goesOn(row)}`,
    next,
  };
}

/** Exactly one of the choices must match. */
function meant({ choices }: OpenGate, verb: keyof typeof MEANT, address: string): string {
  const fitting = choices.filter((choice) => MEANT[verb].test(choice));
  const [only, ...others] = fitting;
  if (only !== undefined && others.length === 0) return only;
  throw new HoldfastError("HF-4353", { gate: address, verb, choices: choices.join(", ") });
}

async function ask(context: CommandContext<unknown>, gate: OpenGate, address: string): Promise<string> {
  const { host, out } = context;
  const choices = gate.choices.join(", ");
  if (!host.canAsk || out.isJson) throw new HoldfastError("HF-4354", { gate: address, choices });
  if (gate.show !== undefined) out.say(shownText({ value: gate.show }, true, host.stderr.columns));
  const said = await host.ask(`${address} [${gate.choices.join("/")}]: `);
  if (said === undefined || said === "") throw new HoldfastError("HF-4354", { gate: address, choices });
  return gate.choices.find((choice) => choice.toLowerCase() === said.toLowerCase()) ?? said;
}

async function wordsOf(
  { host }: CommandContext<unknown>,
  { comment, input }: Given,
  { text }: OpenGate,
  address: string,
): Promise<string | undefined> {
  if (input === undefined) return text ? comment : undefined;
  if (!text)
    throw usage(
      "--input is given",
      `Gate ${address} takes no text.`,
      "--comment <text> is recorded as the reason.",
    );
  if (comment !== undefined)
    throw usage("--comment and --input are both given", "A gate takes one text.", "--comment <text>");
  if (input === "-") return host.readInput();
  return readText(resolve(host.cwd, input));
}
