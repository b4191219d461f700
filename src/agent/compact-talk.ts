import type { StepCall } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import type { Agent, Talk } from "./agent-spec.ts";
import { added, counted, limitsOf, priced } from "./ask-model.ts";
import {
  asText,
  type Compaction,
  type Cut,
  compacted,
  cutAway,
  cutOf,
  SUMMARY_SYSTEM,
  takenSummary,
} from "./compaction.ts";
import type { Message, ModelReply } from "./model.ts";
import { refuseUnpriced } from "./model-calls.ts";
import { takenReply } from "./reply.ts";

/** A summary as its step saves it, with the place where the conversation is cut: settings may change in between. */
interface Summary {
  readonly text: string;
  readonly cut: Cut;
  readonly usage?: ModelReply["usage"];
  readonly model?: string;
}

/** Makes the conversation shorter if it is due. The summary is a step: after a crash it isn't paid for again. */
export async function compactTalk(agent: Agent, talk: Talk): Promise<void> {
  const { ctx, name, spec, retry } = agent;
  const { compact, timeoutMs } = spec;
  const cut = compact && cutOf(talk, compact);
  if (!compact || !cut) return;
  // Copied out of the draft, which ends with the turn.
  const gone = JSON.parse(JSON.stringify(cutAway(talk.messages, cut))) as Message[];
  const nth = talk.compacted ?? 0;
  const summary = await ctx.step(
    "compact",
    async (call): Promise<Summary> => ({ ...(await summarised(agent, compact, gone, nth, call)), cut }),
    {
      input: { from: cut.from, of: talk.messages.length },
      limit: "summarise" in compact ? [] : limitsOf(spec, gone),
      retry,
      ...defined({ timeoutMs }),
    },
  );
  compacted(talk, summary.cut, summary.text);
  if (!summary.usage) return;
  talk.usage = added(talk.usage, summary.usage);
  await refuseUnpriced(ctx, name, summary.model ?? spec.model, summary.usage.costUsd);
}

async function summarised(
  { ctx, name, spec }: Agent,
  compact: Compaction,
  gone: readonly Message[],
  nth: number,
  call: StepCall,
): Promise<Omit<Summary, "cut">> {
  if ("summarise" in compact) return { text: takenSummary(name, await compact.summarise?.(gone, call)) };
  const { provider, model, prices } = spec;
  const given = await provider.generate({
    model,
    system: SUMMARY_SYSTEM,
    messages: [{ role: "user", text: asText(gone) }],
    agent: `${name}:compact`,
    turn: nth,
    attempt: call.attempt,
    signal: call.signal,
  });
  const reply = counted(ctx, await priced(ctx, takenReply(given, model), model, prices));
  return { text: takenSummary(name, reply.text), usage: reply.usage, model: reply.model };
}
