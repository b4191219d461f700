import { useState } from "react";
import type { AnswerOf } from "../../../api/client.ts";
import { useApi } from "../../../api/use-api.ts";
import { TEXT } from "../../../text.ts";
import { costText, countText, moneyText } from "../../../ui/numbers.ts";
import { Loaded } from "../../../ui/page.tsx";
import { spanText } from "../../../ui/time.tsx";

type Report = AnswerOf<"getCost">;

/** The most lines; the rest is in the sum. */
const SHOWN = 100;

/** What the run has cost, by step or by model: spent, wasted on failed attempts, saved by going on. */
export default function Cost({ run }: { readonly run: string }) {
  const [by, setBy] = useState<"step" | "model">("step");
  const query = useApi("getCost", { run, by });
  const { cost } = TEXT.run;
  return (
    <div className="px-4 py-3">
      <fieldset className="mb-2 flex gap-4">
        <legend className="sr-only">{cost.by}</legend>
        {(["step", "model"] as const).map((one) => (
          <label key={one} className="flex items-center gap-1.5">
            <input type="radio" name="cost-by" checked={by === one} onChange={() => setBy(one)} />
            {cost.bys[one]}
          </label>
        ))}
      </fieldset>
      <Loaded query={query}>{(report) => <CostTable report={report} />}</Loaded>
    </div>
  );
}

function CostTable({ report }: { readonly report: Report }) {
  const { cost } = TEXT.run;
  const groups = report.groups
    .toSorted((a, b) => (b.costUsd ?? 0) - (a.costUsd ?? 0) || b.tokens - a.tokens)
    .slice(0, SHOWN);
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-right text-[0.93rem] tabular-nums">
        <thead className="text-soft">
          <tr className="border-b border-line">
            <th scope="col" className="py-1.5 text-left font-medium">
              {cost.bys[report.by === "model" ? "model" : "step"]}
            </th>
            {[cost.tokens, cost.spent, cost.wasted, cost.saved].map((name) => (
              <th key={name} scope="col" className="py-1.5 pl-6 font-medium whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <Line key={group.name} name={group.name} of={group} />
          ))}
        </tbody>
        <tfoot className="border-t border-line-strong font-medium">
          <Line name={cost.total} of={report.total} />
        </tfoot>
      </table>
    </div>
  );
}

function Line({
  name,
  of: { tokens, costUsd, unpriced, wasted, saved },
}: {
  readonly name: string;
  readonly of: Report["total"];
}) {
  return (
    <tr>
      <th scope="row" className="max-w-96 truncate py-1 text-left font-normal" title={name}>
        {name}
      </th>
      <td className="py-1 pl-6">{countText(tokens)}</td>
      <td className="py-1 pl-6">
        {costUsd === null ? null : moneyText(costUsd)}
        {unpriced > 0 ? (
          <span className="text-waits">
            {" "}
            {costUsd === null ? "" : "+ "}
            {TEXT.run.cost.unpriced(countText(unpriced))}
          </span>
        ) : null}
      </td>
      <td className={`py-1 pl-6 ${wasted.tokens > 0 ? "text-bad" : "text-soft"}`}>{costText(wasted)}</td>
      <td className={`py-1 pl-6 ${saved.steps > 0 ? "text-good" : "text-soft"}`}>
        {saved.steps > 0 ? `${costText(saved)} · ${spanText(saved.ms)}` : "–"}
      </td>
    </tr>
  );
}
