import type { GateAnswer } from "../../core/context.ts";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type AgentOf, type Question, question as questionSchema } from "../schema/agents.ts";
import { render } from "../template/template.ts";
import { isPlain, nameOfKind, type Plain } from "../template/value.ts";
import type { FlowRun } from "./machine.ts";

type QuestionsAgent = AgentOf<"questions">;

interface Asked {
  readonly id: string;
  readonly text: string;
  readonly hint: string | undefined;
  readonly choices: readonly string[];
  readonly isFree: boolean;
  readonly fallback: string | undefined;
  readonly required: boolean;
}

interface Answered {
  readonly answer: string | null;
  readonly source: "choice" | "free_text" | "default" | "skipped";
}

/** Choices that aren't answers. A suggested answer must not equal one of them. */
const ANSWER = "answer";
const CONTROLS = {
  back: "back",
  skip: "skip",
  skipAll: "skip_all",
  abort: "abort",
  finish: "finish",
} as const;
const RESERVED: readonly string[] = [ANSWER, ...Object.values(CONTROLS)];

type Outcome = "completed" | "skipped_remaining" | "aborted";

/** Asks a person a list of questions, each with its own gate: an answered question is saved and never asked again. */
export async function askQuestions(
  run: FlowRun,
  agent: QuestionsAgent,
  data: Plain,
  source: unknown,
): Promise<Plain> {
  const asked = resolved(agent, data, source);
  const intro = agent.prompt === "" ? undefined : render(agent.prompt, data, `${agent.name}.prompt`);
  return run.ctx.step(
    agent.name,
    async () => {
      const answers = new Map<string, Answered>();
      const outcome = await goThrough(run, agent, asked, answers, intro);
      return report(asked, answers, outcome);
    },
    { retry: false },
  );
}

async function goThrough(
  { ctx }: FlowRun,
  agent: QuestionsAgent,
  asked: readonly Asked[],
  answers: Map<string, Answered>,
  intro: string | undefined,
): Promise<Outcome> {
  let note: string | undefined;
  for (let index = 0; ; ) {
    const one = asked[index];
    if (!one) {
      if (!agent.allow_back || asked.length === 0) return "completed";
      const summary = asked.map(({ id, text }) => ({
        question: text,
        answer: answers.get(id)?.answer ?? null,
      }));
      const choices = [CONTROLS.finish, CONTROLS.back];
      const review = await ctx.gate("review", { show: { answers: summary }, choices });
      if (review.choice === CONTROLS.finish) return "completed";
      index--;
      continue;
    }
    const about = shown(one, index === 0 ? intro : undefined, note);
    const show = { question: one.text, number: index + 1, of: asked.length, ...about };
    const answer = await ctx.gate(one.id, { show, choices: choicesOf(agent, one, index), text: one.isFree });
    const taken = take(answer, asked.slice(index), answers);
    if (typeof taken === "string") return taken;
    note = taken.note;
    index += taken.move;
  }
}

/** Interprets an answer to the first open question: how far to move, or how the dialog ends. */
function take(
  { choice, text = "" }: GateAnswer,
  open: readonly Asked[],
  answers: Map<string, Answered>,
): Outcome | { readonly move: number; readonly note?: string } {
  const one = open[0] as Asked;
  if (choice === CONTROLS.abort) return "aborted";
  if (choice === CONTROLS.back) return { move: -1 };
  if (choice === CONTROLS.skip || choice === CONTROLS.skipAll) {
    const left =
      choice === CONTROLS.skip ? [one] : open.filter(({ id }) => id === one.id || !answers.has(id));
    const needed = left.find(({ required, fallback }) => required && fallback === undefined);
    if (needed) return { move: 0, note: `${needed.text} needs an answer.` };
    for (const each of left) answers.set(each.id, skipped(each));
    return choice === CONTROLS.skip ? { move: 1 } : "skipped_remaining";
  }
  const isWritten = choice === ANSWER && one.isFree;
  if (isWritten && text.trim() === "") {
    if (one.required && one.fallback === undefined) return { move: 0, note: "An answer needs a text." };
    // An optional question was left unanswered.
    answers.set(one.id, skipped(one));
    return { move: 1 };
  }
  answers.set(
    one.id,
    isWritten ? { answer: text, source: "free_text" } : { answer: choice, source: "choice" },
  );
  return { move: 1 };
}

const shown = ({ hint, fallback }: Asked, intro: string | undefined, note: string | undefined): Plain =>
  defined({ intro, hint, default: fallback, note });

const skipped = ({ fallback }: Asked): Answered => ({
  answer: fallback ?? null,
  source: fallback === undefined ? "skipped" : "default",
});

function choicesOf(agent: QuestionsAgent, { choices, isFree }: Asked, index: number): string[] {
  return [
    ...choices,
    ...(isFree ? [ANSWER] : []),
    ...(agent.allow_skip ? [CONTROLS.skip] : []),
    ...(agent.allow_skip_all ? [CONTROLS.skipAll] : []),
    ...(agent.allow_back && index > 0 ? [CONTROLS.back] : []),
    ...(agent.allow_abort ? [CONTROLS.abort] : []),
  ];
}

/** The output for routes and later prompts. */
function report(asked: readonly Asked[], answers: ReadonlyMap<string, Answered>, outcome: Outcome): Plain {
  const items = asked.map(({ id, text }) => {
    const { answer, source } = answers.get(id) ?? { answer: null, source: "skipped" as const };
    return { id, question: text, answer, source, skipped: source === "skipped" };
  });
  const given = items.filter((item) => !item.skipped);
  return {
    answers: Object.fromEntries(given.map(({ id, answer }) => [id, answer])),
    items,
    transcript: items
      .flatMap(({ question, answer }, index) =>
        answer === null ? [] : [`Q${index + 1}. ${question}\nA: ${answer}`],
      )
      .join("\n\n"),
    answered_count: given.length,
    skipped_count: items.length - given.length,
    answered_any: given.length > 0,
    outcome,
  };
}

/** Questions written in the file are templates; questions written by a model are used as they are. */
function resolved(agent: QuestionsAgent, data: Plain, source: unknown): Asked[] {
  const place = agent.source ?? `${agent.name}.questions`;
  const refuse = (problem: string) =>
    new HoldfastError("HF-4015", { step: agent.name, source: place, problem });
  const given =
    agent.questions ?? (source as readonly unknown[]).map((entry, index) => fromModel(entry, index, refuse));
  const text = (written: string): string => (agent.questions ? render(written, data, place) : written);
  const seen = new Set<string>([CONTROLS.finish, "review"]);
  return given.map((one, index) => {
    const id = one.id ?? `q${index + 1}`;
    if (seen.has(id) || /[/#[\]]/.test(id)) throw refuse(`its id ${id} is taken or cannot be one`);
    seen.add(id);
    const choices = (one.choices ?? []).map(text);
    const reserved = choices.find((choice) => RESERVED.includes(choice) || choice === "");
    if (reserved !== undefined) throw refuse(`${JSON.stringify(reserved)} cannot be a suggested answer`);
    return {
      id,
      text: text(one.text),
      hint: one.hint ? text(one.hint) : undefined,
      choices: [...new Set(choices)],
      isFree: one.allow_free_text,
      fallback: one.default ?? undefined,
      required: one.required,
    };
  });
}

function fromModel(entry: unknown, index: number, refuse: (problem: string) => HoldfastError): Question {
  if (!isPlain(entry) && typeof entry !== "string")
    throw refuse(`entry ${index + 1} is ${nameOfKind(entry)}`);
  const { question: alias, ...rest } = isPlain(entry) ? entry : { text: entry };
  const read = questionSchema.safeParse(alias === undefined ? rest : { text: alias, ...rest });
  if (!read.success)
    throw refuse(`entry ${index + 1}: ${read.error.issues[0]?.message ?? "it does not fit"}`);
  return read.data;
}
