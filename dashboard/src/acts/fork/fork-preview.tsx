import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { When } from "../../ui/time.tsx";
import { PlanPart, StepList } from "../resume/plan-list.tsx";

export type ForkPreviewAnswer = AnswerOf<"planFork">;

const { fork: words, plan } = TEXT;

/** What a fork would do about calls that its source has made since. */
export function ForkPreview({ preview }: { readonly preview: ForkPreviewAnswer }) {
  const { from, calls, children, edits } = preview;
  const again = calls.filter(({ becomes }) => becomes === "called again");
  const others = calls.filter(({ becomes }) => becomes !== "called again");
  const rowsOf = (some: typeof calls) =>
    some.map((call) => ({
      ...call,
      step: call.runId === from.runId ? call.step : `${call.runId}:${call.step}`,
    }));
  const note = ({ effect, status, at, becomes }: (typeof calls)[number]) => (
    <>
      {plan.effects[effect]} · {words.was[status]} <When at={at} /> · {plan.instead[becomes]}
    </>
  );
  return (
    <div>
      {calls.length === 0 ? (
        <PlanPart title={words.calls} count={0} tone="good" note={words.noCalls} />
      ) : null}
      {again.length > 0 ? (
        <PlanPart title={words.again} count={again.length} tone="bad" note={words.againNote}>
          <StepList rows={rowsOf(again)} note={note} />
        </PlanPart>
      ) : null}
      {others.length > 0 ? (
        <PlanPart title={words.calls} count={others.length} tone="good">
          <StepList rows={rowsOf(others)} note={note} />
        </PlanPart>
      ) : null}
      {children.length > 0 ? (
        <PlanPart title={words.children} count={children.length} tone="calm">
          <StepList
            rows={children}
            note={({ runId, seq, kept }) => `${runId}@${seq}${kept ? "" : ` · ${words.gone}`}`}
          />
        </PlanPart>
      ) : null}
      {edits.length > 0 ? (
        <PlanPart title={words.edits} count={edits.length} tone="waits">
          <StepList
            rows={edits.map(({ what, name }) => ({ step: `${what} ${name}`.trim() }))}
            note={() => ""}
          />
        </PlanPart>
      ) : null}
    </div>
  );
}
