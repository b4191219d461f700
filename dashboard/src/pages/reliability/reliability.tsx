import type { AnswerOf } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { Chart } from "../../ui/chart.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { Figures } from "../../ui/figures.tsx";
import { countText } from "../../ui/numbers.ts";
import { Card, Loaded, Page } from "../../ui/page.tsx";
import { RangePicker, useRange } from "../range.tsx";
import { Incidents } from "./incidents.tsx";
import { byDay, sloFigures } from "./slo.ts";
import { FailingSteps } from "./steps.tsx";

const T = TEXT.reliability;
const AUDIT = "audit:read";

/** How runs survive, beside the targets they are held to. What isn't measured says so. */
export default function Reliability() {
  const range = useRange("week");
  const { may } = useSession();
  const period = range.since === undefined ? {} : { since: range.since };
  const recoveries = useApi("reportRecoveries", period, { enabled: may(AUDIT), refetchMs: 30_000 });
  const steps = useApi("reportSteps", period, { refetchMs: 30_000 });
  const slo = useApi("getSlo", {}, { refetchMs: 30_000 });
  const needs = useApi("needsYou", {});
  return (
    <Page title={TEXT.nav.reliability} lead={T.lead} acts={<RangePicker range={range} />}>
      <Loaded query={slo}>{(report) => <Slos report={report} />}</Loaded>
      <Figures
        figures={[
          stalledFigure(needs.data),
          ...(recoveries.data
            ? [
                { name: T.incidents, value: countText(recoveries.data.incidents.length) },
                { name: T.recovered, value: countText(recoveries.data.runs.completedAfterRecovery) },
              ]
            : []),
        ]}
      />
      {may(AUDIT) ? (
        <Loaded query={recoveries}>
          {(report) => (
            <>
              {report.incidents.length === 0 ? null : (
                <Chart
                  title={T.chart}
                  data={byDay(report.incidents, range.since)}
                  by={TEXT.chart.day}
                  format={countText}
                  steps="whole"
                />
              )}
              <Card title={T.incidents} className="mb-5">
                <Incidents incidents={report.incidents} />
              </Card>
            </>
          )}
        </Loaded>
      ) : (
        <p className="mb-5 text-soft">{TEXT.allowed.seeing(AUDIT)}</p>
      )}
      <Card title={T.failing} className="mb-5">
        <Loaded query={steps}>{(report) => <FailingSteps report={report} />}</Loaded>
      </Card>
      <div className="max-w-2xl">
        <p className="mb-1 text-soft">{T.prove}</p>
        <CommandLine command={T.command} />
      </div>
    </Page>
  );
}

function stalledFigure(needs: AnswerOf<"needsYou"> | undefined) {
  const stalled = needs?.counts.stalled ?? 0;
  return {
    name: T.stalled,
    value: needs ? countText(stalled) : "…",
    tone: stalled > 0 ? ("bad" as const) : ("plain" as const),
    note: stalled > 0 ? T.stalledNote : T.noneStalled,
  };
}

const TONES = { met: "good", missed: "waits", alarm: "bad", unknown: "plain", watched: "plain" } as const;

function Slos({ report }: { readonly report: AnswerOf<"getSlo"> }) {
  const figures = sloFigures(report).map(({ name, value, target, verdict, note }) => ({
    name,
    value,
    tone: TONES[verdict],
    note: (
      <>
        <span className="font-medium">{T.verdicts[verdict]}</span>
        {target === null ? null : ` · ${T.target(target)}`}
        <span className="block">{note}</span>
      </>
    ),
  }));
  return <Figures figures={figures} />;
}
