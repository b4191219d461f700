import { EyeOff } from "lucide-react";
import type { ReactNode } from "react";
import { Reveal } from "../../../acts/reveal.tsx";
import { type AnswerOf, client } from "../../../api/client.ts";
import { TEXT } from "../../../text.ts";
import { Button } from "../../../ui/button.tsx";
import { CopyButton } from "../../../ui/copy.tsx";
import { percentText } from "../../../ui/numbers.ts";
import { PreviewView } from "../../../ui/preview.tsx";
import { Part } from "./part.tsx";

type Values = AnswerOf<"readStep">;

/** What a step was given and gave, masked until somebody says why they must see it. */
export function ValuesPart({ run, step }: { readonly run: string; readonly step: string }) {
  const { reveal } = TEXT.inspector;
  return (
    <Part title={TEXT.inspector.values}>
      <Reveal what={reveal.what(step)} read={(reason) => client.readStep({ run, step, reason })}>
        {(values, hide) => (
          <>
            <Shown values={values} />
            <Button small look="quiet" onClick={hide}>
              <EyeOff aria-hidden className="size-4" /> {reveal.hide}
            </Button>
          </>
        )}
      </Reveal>
    </Part>
  );
}

function Shown({
  values: { step, given, output, errors, decisions, isDropped },
}: {
  readonly values: Values;
}) {
  const { reveal } = TEXT.inspector;
  return (
    <>
      {decisions.map((decision) => (
        <Value key={decision.seq} title={TEXT.inspector.decision}>
          <p className="font-medium break-words">{decision.description}</p>
          {decision.rationale === undefined ? null : (
            <p className="mt-0.5 break-words whitespace-pre-wrap text-soft">{decision.rationale}</p>
          )}
          {decision.alternatives && decision.alternatives.length > 0 ? (
            <p className="mt-1 break-words">
              <span className="text-soft">{TEXT.inspector.alternatives} </span>
              {decision.alternatives.join(" · ")}
            </p>
          ) : null}
          <p className="mt-1 text-soft">
            {decision.confidence === undefined
              ? null
              : `${TEXT.inspector.confidence} ${percentText(decision.confidence)}`}
            {decision.agent === undefined ? null : ` · ${decision.agent}`}
          </p>
        </Value>
      ))}
      {errors.map(({ attempt, seq, error }) => (
        <Value key={seq} title={reveal.error(attempt)}>
          <PreviewView preview={error} label={reveal.error(attempt)} />
        </Value>
      ))}
      {given ? (
        <Value title={reveal.given}>
          <PreviewView preview={given} label={reveal.given} />
        </Value>
      ) : null}
      <Value title={reveal.output}>
        {output ? (
          <>
            <PreviewView preview={output} label={reveal.output} />
            {output.isWhole ? (
              <p className="mt-1 flex items-center gap-1 text-[0.87rem] text-soft">
                {reveal.fixture}
                <CopyButton text={fixtureOf(step, output.text)} label={reveal.fixture} />
              </p>
            ) : null}
          </>
        ) : (
          <p className="text-soft">{isDropped ? reveal.dropped : reveal.noOutput}</p>
        )}
      </Value>
    </>
  );
}

/** The output as a line of a test. */
const fixtureOf = (step: string, output: string): string => `export const ${nameOf(step)} = ${output};`;

const nameOf = (step: string): string =>
  step
    .replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? "").toUpperCase())
    .replace(/^(?=\d|$)/, "step");

const Value = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <div className="mb-3">
    <h4 className="mb-1 text-[0.87rem] font-medium">{title}</h4>
    {children}
  </div>
);
