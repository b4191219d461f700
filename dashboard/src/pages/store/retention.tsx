import { useState } from "react";
import { Link } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { useActOn } from "../../api/use-refresh.ts";
import { TEXT } from "../../text.ts";
import { AllowedButton } from "../../ui/allowed.tsx";
import { SelectField } from "../../ui/field.tsx";
import { bytesText, countText } from "../../ui/numbers.ts";
import { Card, Loaded } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { PRESETS, type Preset, type Preview, pruneAct } from "./store-acts.ts";

const T = TEXT.store;
type Dropped = Preview["runs"][number];

/** What a policy would drop, shown before anything is dropped. */
export function Retention() {
  const [policy, setPolicy] = useState<Preset>("default");
  const query = useApi("previewRetention", { policy });
  const act = useActOn("previewRetention", "reportCapacity", "listRuns");
  return (
    <Card title={T.retention}>
      <div className="flex flex-col gap-3 p-4">
        <p className="text-soft">{T.retentionLead}</p>
        <SelectField
          label={T.preset}
          className="max-w-md"
          value={policy}
          choices={PRESETS.map((value) => ({ value, name: T.presets[value] }))}
          onChange={setPolicy}
        />
        <Loaded query={query}>
          {(preview) => (
            <>
              <p aria-live="polite" className="font-medium">
                {preview.runs.length === 0
                  ? T.nothing
                  : T.would(preview.runs.length, preview.checkpoints, bytesText(preview.bytes))}{" "}
                <span className="font-normal text-soft">
                  {preview.skipped.length > 0 ? T.skipped(preview.skipped.length) : ""}
                  {preview.complete ? "" : ` ${T.incomplete}`}
                </span>
              </p>
              {preview.runs.length === 0 ? null : (
                <>
                  <div className="max-h-80 overflow-y-auto rounded-md border border-line">
                    <Table
                      label={T.retention}
                      rows={preview.runs.slice(0, 200)}
                      keyOf={({ runId }) => runId}
                      columns={COLUMNS}
                    />
                  </div>
                  <div>
                    <AllowedButton
                      permission="admin"
                      look="danger"
                      onClick={() => act(pruneAct(policy, preview))}
                    >
                      {T.prune.verb}
                    </AllowedButton>
                  </div>
                </>
              )}
            </>
          )}
        </Loaded>
      </div>
    </Card>
  );
}

const C = T.previewColumns;
const COLUMNS: readonly Column<Dropped>[] = [
  {
    title: C.run,
    grows: true,
    cell: ({ runId }) => (
      <Link href={`/r/${runId}`} className="font-mono break-all underline">
        {runId}
      </Link>
    ),
  },
  { title: C.workflow, spare: "sm", cell: ({ workflow }) => workflow },
  { title: C.why, spare: "md", cell: ({ why }) => <code className="text-[0.87rem]">{why.join(", ")}</code> },
  { title: C.checkpoints, align: "right", cell: ({ checkpoints }) => countText(checkpoints) },
  { title: C.size, align: "right", cell: ({ bytes }) => bytesText(bytes) },
  {
    title: C.left,
    spare: "sm",
    cell: ({ pruned, deleted }) => (deleted ? T.gone : pruned ? T.recordOnly : T.someLeft),
  },
];
