import { badOption, checkKeys, checkObject, checkText, keysOf } from "../check-options.ts";
import type { GateAnswer, GateDataOptions, GateOptions } from "../context.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import type { StepRecord } from "../journal/records.ts";
import { about } from "../journal/wait-reason.ts";
import { checkSchema, type StandardSchema } from "../standard-schema.ts";
import type { Waiting } from "../types.ts";
import type { ActiveRun } from "./active-run.ts";
import type { StepPlace } from "./call.ts";
import { fitAnswer, MOST_SAID, withValue } from "./fitting.ts";
import { checkTimeout, failWait, open, outcome, untilDecided } from "./waits.ts";

type Options<C extends string> = GateOptions<C> & Partial<GateDataOptions>;

const OPTIONS = keysOf<Options<string>>({
  show: true,
  choices: true,
  means: true,
  text: true,
  data: true,
  timeoutMs: true,
  onTimeout: true,
  fourEyes: true,
});

/** Waits for a person's answer. `strict`: an answer is valid only for exactly what was shown. */
export async function gate<C extends string>(
  execution: ActiveRun,
  place: StepPlace,
  options: Options<C>,
  strict = false,
): Promise<GateAnswer<C>> {
  checkGate(options);
  await execution.enter();
  const { data } = options;
  if (data) execution.deps.answerSchemas.expect(execution.runId, place.key, data);
  let refused: string | undefined;
  for (;;) {
    const record = await asked(execution, place, options, { strict, refused });
    const answer = (await outcome(execution, place, record)) as GateAnswer<C>;
    if (!data || record.fitted) return answer;
    const fitted = await fitData(execution, place, data, answer);
    if (typeof fitted !== "string") return fitted;
    refused = fitted;
  }
}

/** Asks, and waits until the question is decided. */
async function asked<C extends string>(
  execution: ActiveRun,
  place: StepPlace,
  options: Options<C>,
  how: { readonly strict: boolean; readonly refused: string | undefined },
): Promise<StepRecord> {
  const { time, values } = execution.deps;
  const shown = {
    show: options.show,
    choices: [...options.choices],
    text: options.text ?? false,
    ...(options.means ? { means: { ...options.means } } : {}),
    ...(options.data ? { data: true } : {}),
    ...(options.fourEyes ? { fourEyes: true } : {}),
  };
  const until = options.timeoutMs === undefined ? {} : { until: time.now() + options.timeoutMs };
  const meta = { type: "gate", args: values.digest(shown), ...until } as const;
  const record = await open(execution, place, meta, { shown, ...how });
  const overdue = async () => {
    const { onTimeout } = options;
    if (typeof onTimeout !== "object") {
      const at = new Date(record.until ?? 0).toISOString();
      return failWait(execution, place, new HoldfastError("HF-2105", { gate: place.key, until: at }));
    }
    const answer: GateAnswer<C> = {
      choice: onTimeout.choice,
      ...defined({ data: onTimeout.data }),
      actor: "timeout",
      at: time.now(),
      timedOut: true,
    };
    const encoded = values.encode(place.key, answer);
    const event = { kind: "step_completed", step: place.key, meta: {}, data: encoded.data } as const;
    await execution.contest(event, encoded.blobs);
  };
  return untilDecided(execution, place, record, { kind: "gate", ...anew(place, record) }, overdue);
}

/** The answer with what the schema makes of its data, recorded once; or why the data doesn't match. */
async function fitData<C extends string>(
  execution: ActiveRun,
  { key }: StepPlace,
  schema: StandardSchema,
  answer: GateAnswer<C>,
): Promise<GateAnswer<C> | string> {
  const fitted = await fitAnswer(execution, key, schema, answer.data);
  await execution.enter();
  if (fitted instanceof Error) {
    // Asking again would lead to the same answer.
    if (answer.timedOut) throw fitted;
    return fitted.message.slice(0, MOST_SAID);
  }
  const whole = { ...answer, data: fitted.value };
  const accepted = { kind: "answer_fitted", step: key, meta: {} } as const;
  const { event, blobs } = withValue(execution, accepted, fitted.isOther ? { of: whole } : undefined);
  execution.record(event, blobs);
  return whole;
}

/** Explains why a person is asked again. */
function anew({ key }: StepPlace, { voids }: StepRecord): Pick<Waiting, "code" | "detail"> {
  if (!voids?.answered) return {};
  if (voids.refused !== undefined) {
    const problem = new HoldfastError("HF-2123", { gate: key, seq: voids.seq, problems: voids.refused });
    return about(problem, problem.fix);
  }
  const problem = new HoldfastError("HF-2190", { gate: key, seq: voids.seq });
  return about(problem, problem.fix);
}

function checkGate(options: Options<string>): void {
  checkObject("options", options, 'an object with the gate\'s choices: { choices: ["approve", "reject"] }');
  checkKeys(options, OPTIONS);
  const { choices, onTimeout, timeoutMs, data, fourEyes = false } = options;
  checkSchema("data", data);
  if (typeof fourEyes !== "boolean") throw badOption("fourEyes", "it must be true or false");
  const isText = (one: unknown) => typeof one === "string" && one !== "";
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isText))
    throw badOption("choices", "it must be a list of at least one text");
  checkMeans(options);
  checkTimeout(timeoutMs);
  if (onTimeout === undefined || onTimeout === "fail") return;
  if (typeof onTimeout !== "object" || onTimeout === null)
    throw badOption("onTimeout", "it must be fail or a choice");
  checkKeys(onTimeout, ["choice", "data"], "onTimeout");
  if (!choices.includes(onTimeout.choice))
    throw badOption("onTimeout.choice", "it is not one of the choices");
}

function checkMeans({ choices, means }: Options<string>): void {
  if (means === undefined) return;
  checkObject("means", means);
  for (const [choice, text] of Object.entries(means)) {
    if (!choices.includes(choice)) throw badOption(`means.${choice}`, "it is not one of the choices");
    checkText(`means.${choice}`, text, 1);
  }
}
