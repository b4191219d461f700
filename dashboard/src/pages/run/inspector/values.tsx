import { useMutation } from "@tanstack/react-query";
import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { command } from "../../../acts/act.ts";
import { useAct } from "../../../acts/provider.tsx";
import { type AnswerOf, client } from "../../../api/client.ts";
import { useSession } from "../../../session.tsx";
import { TEXT } from "../../../text.ts";
import { Button } from "../../../ui/button.tsx";
import { CopyButton } from "../../../ui/copy.tsx";
import { percentText } from "../../../ui/numbers.ts";
import { PreviewView } from "../../../ui/preview.tsx";
import { ProblemView } from "../../../ui/problem.tsx";
import { lastReason, rememberReason } from "../reason.ts";
import { Part } from "./part.tsx";

type Values = AnswerOf<"readStep">;

/** What a step was given and gave, masked until somebody says why they must see it. */
export function ValuesPart({ run, step }: { readonly run: string; readonly step: string }) {
  const [values, setValues] = useState<Values | null>(null);
  const { may } = useSession();
  const open = useAct();
  const again = useMutation({
    mutationFn: (reason: string) => client.readStep({ run, step, reason }),
    onSuccess: setValues,
  });
  const reason = lastReason(run);
  const reveal = (): void =>
    open(
      {
        title: TEXT.inspector.reveal.title(step),
        effect: TEXT.inspector.reveal.effect,
        verb: TEXT.inspector.reveal.verb,
        cli: (why) => command(["show", `${run}:${step}`, "--reveal"], why),
        permission: "state:read",
        reasons: TEXT.inspector.reveal.reasons,
        perform: (why) => {
          rememberReason(run, why);
          return client.readStep({ run, step, reason: why });
        },
      },
      (answer) => setValues(answer as Values),
    );
  if (values)
    return (
      <>
        <Shown values={values} />
        <div className="px-4 py-2">
          <Button small look="quiet" onClick={() => setValues(null)}>
            <EyeOff aria-hidden className="size-4" /> {TEXT.inspector.reveal.hide}
          </Button>
        </div>
      </>
    );
  return (
    <Part title={TEXT.inspector.values}>
      <p aria-hidden className="mb-2 font-mono tracking-widest text-faint select-none">
        ••••••••••••
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <Button small disabled={!may("state:read")} onClick={reveal}>
          <Eye aria-hidden className="size-4" /> {TEXT.inspector.reveal.act}
        </Button>
        {reason === null || !may("state:read") ? null : (
          <Button small look="quiet" disabled={again.isPending} onClick={() => again.mutate(reason)}>
            {TEXT.inspector.reveal.again}
          </Button>
        )}
        <span className="text-[0.87rem] text-soft">
          {may("state:read") ? TEXT.inspector.reveal.hint : TEXT.dialog.may("state:read")}
        </span>
      </div>
      {again.isError ? <ProblemView error={again.error} /> : null}
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
        <Part key={decision.seq} title={TEXT.inspector.decision}>
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
        </Part>
      ))}
      {errors.map(({ attempt, seq, error }) => (
        <Part key={seq} title={reveal.error(attempt)}>
          <PreviewView preview={error} label={reveal.error(attempt)} />
        </Part>
      ))}
      {given ? (
        <Part title={reveal.given}>
          <PreviewView preview={given} label={reveal.given} />
        </Part>
      ) : null}
      <Part title={reveal.output}>
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
      </Part>
    </>
  );
}

/** The output as a line of a test. */
const fixtureOf = (step: string, output: string): string => `export const ${nameOf(step)} = ${output};`;

const nameOf = (step: string): string =>
  step
    .replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? "").toUpperCase())
    .replace(/^(?=\d|$)/, "step");
