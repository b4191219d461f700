import { Link } from "wouter";
import type { AnswerOf } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { useActOn } from "../../api/use-refresh.ts";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { AllowedButton } from "../../ui/allowed.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { Figures } from "../../ui/figures.tsx";
import { bytesText, plural } from "../../ui/numbers.ts";
import { Card, Loaded, Page } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { spanText, When } from "../../ui/time.tsx";
import { Capacity } from "./capacity.tsx";
import { Retention } from "./retention.tsx";
import { unpinAct } from "./store-acts.ts";

const T = TEXT.store;
const AUDIT = "audit:read";

/** The store: is it well, how large is it, and what would retention remove. */
export default function Store() {
  const { may } = useSession();
  const capacity = useApi("reportCapacity", {}, { enabled: may(AUDIT) });
  return (
    <Page title={TEXT.nav.store} lead={T.lead}>
      <State capacity={capacity.data} />
      <div className="flex flex-col gap-5">
        {may(AUDIT) ? (
          <Loaded query={capacity}>{(report) => <Capacity report={report} />}</Loaded>
        ) : (
          <p className="text-soft">{TEXT.allowed.seeing(AUDIT)}</p>
        )}
        <Retention />
        <Pinned />
      </div>
    </Page>
  );
}

function State({ capacity }: { readonly capacity: AnswerOf<"reportCapacity"> | undefined }) {
  const { data: health } = useApi("getHealth", {}, { refetchMs: 5_000 });
  const { data: store, dataUpdatedAt } = useApi("getStore", {});
  const apart = store ? Math.abs(store.now - dataUpdatedAt) : 0;
  const state = health?.store.state;
  return (
    <Figures
      figures={[
        {
          name: T.state,
          value: state ? T.states[state] : "…",
          tone: state === undefined ? "plain" : state === "ok" ? "good" : "bad",
          note: health ? (
            <>
              {health.runs.length > 0 ? T.unsaved(health.runs.length) : T.allSaved}
              {health.store.lastSavedAt === null ? null : (
                <>
                  {" · "}
                  {T.lastSaved} <When at={health.store.lastSavedAt} />
                </>
              )}
              {health.store.error === null ? null : (
                <span className="block text-bad">{health.store.error}</span>
              )}
            </>
          ) : null,
        },
        {
          name: T.kind,
          value: store?.kind ?? "…",
          note: store ? T.durability[store.capabilities.durability] : "",
        },
        {
          name: T.clock,
          value: store ? new Date(store.now).toISOString().slice(11, 19) : "…",
          tone: apart > 5_000 ? "waits" : "plain",
          note: apart > 5_000 ? T.apart(spanText(apart)) : T.same,
        },
        ...(capacity
          ? [
              {
                name: T.size,
                value: bytesText(capacity.total.valueBytes + capacity.total.headBytes),
                note: `${plural(capacity.total.runs, "run")} · ${T.record} ${bytesText(capacity.total.headBytes)}`,
              },
            ]
          : []),
      ]}
    />
  );
}

function Pinned() {
  const query = useApi("listRuns", { pinned: true, limit: 50 });
  const act = useActOn("listRuns");
  return (
    <Card title={T.pinned}>
      <Loaded query={query}>
        {({ runs }) =>
          runs.length === 0 ? (
            <div className="max-w-xl p-4 text-soft">
              <p className="mb-2">{T.nonePinned}</p>
              <CommandLine command={T.pinCommand} />
            </div>
          ) : (
            <>
              <p className="px-4 pt-3 text-soft">{T.pinnedLead}</p>
              <Table
                label={T.pinned}
                rows={runs}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: T.previewColumns.run,
                    grows: true,
                    cell: ({ id }) => (
                      <Link href={`/r/${id}`} className="font-mono break-all underline">
                        {id}
                      </Link>
                    ),
                  },
                  { title: T.previewColumns.workflow, cell: ({ workflow }) => workflow },
                  {
                    title: TEXT.queues.columns.acts,
                    align: "right",
                    isActs: true,
                    cell: (run) => (
                      <AllowedButton permission="runs:act" small onClick={() => act(unpinAct(run))}>
                        {T.unpin.verb}
                      </AllowedButton>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
