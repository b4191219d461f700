import { useState } from "react";
import { Link } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { CommandLine } from "../../ui/copy.tsx";
import { countText } from "../../ui/numbers.ts";
import { Empty, Loaded, Page } from "../../ui/page.tsx";
import { When } from "../../ui/time.tsx";
import { cardsOf, type Need } from "./groups.ts";
import { AlikeCard, NeedCard } from "./need-card.tsx";

const T = TEXT.needsYou;
/** The most that the API tells at once. */
const MOST = 100;

/** What doesn't go on unless a person does something. */
export default function NeedsYou() {
  const [kind, setKind] = useState<Need["kind"] | null>(null);
  const query = useApi("needsYou", { limit: MOST }, { refetchMs: 15_000 });
  return (
    <Page title={TEXT.nav.needsYou} lead={T.lead}>
      <Alarms />
      <Loaded query={query}>
        {({ needs, counts, total, next, more }) => {
          const kinds = (Object.keys(T.kinds) as Need["kind"][]).filter((one) => counts[one] > 0);
          const shown = kind !== null && counts[kind] > 0 ? needs.filter((one) => one.kind === kind) : needs;
          if (needs.length === 0) return <Quiet />;
          return (
            <>
              {kinds.length < 2 ? null : (
                <Kinds kinds={kinds} counts={counts} total={total} kind={kind} onKind={setKind} />
              )}
              <ul className="grid gap-3 xl:grid-cols-2 min-[110rem]:grid-cols-3">
                {cardsOf(shown).map((card) =>
                  card.needs.length > 1 ? (
                    <AlikeCard {...card} key={card.key} isMore={next !== null} />
                  ) : (
                    <NeedCard key={card.key} need={card.first} />
                  ),
                )}
              </ul>
              {next === null ? null : (
                <p className="mt-3 text-soft">
                  <Link href="/runs?q=needs%3Ayou" className="underline">
                    {T.rest(countText(total - next))}
                  </Link>
                </p>
              )}
              {more ? <p className="mt-3 text-soft">{T.looked}</p> : null}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

/** What is wrong with the store itself: service levels, the record, budgets. What is wrong with a run is a card below. */
function Alarms() {
  const { data } = useApi("listAlerts", {}, { refetchMs: 15_000 });
  const alarms = (data?.alerts ?? []).filter(({ run, kind }) => run === null || kind === "chain-broken");
  if (alarms.length === 0) return null;
  return (
    <ul aria-label={T.alarms} className="mb-4 grid gap-2">
      {alarms.map(({ key, severity, summary, openedAt, acked }) => (
        <li key={key} className="flex flex-wrap items-baseline gap-x-3 rounded-md bg-bad-soft px-3 py-2">
          <span className="font-medium">{severity}</span>
          <span className="min-w-0 flex-1 break-words">{summary}</span>
          <span className="text-soft">
            <When at={openedAt} />
            {acked === null ? null : ` · ${T.acked(acked.by ?? "")}`}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Kinds({
  kinds,
  counts,
  total,
  kind,
  onKind,
}: {
  readonly kinds: readonly Need["kind"][];
  readonly counts: Readonly<Record<Need["kind"], number>>;
  readonly total: number;
  readonly kind: Need["kind"] | null;
  readonly onKind: (kind: Need["kind"] | null) => void;
}) {
  const all: readonly (Need["kind"] | null)[] = [null, ...kinds];
  return (
    <fieldset aria-label={TEXT.nav.needsYou} className="-mx-1 mb-3 flex gap-1 overflow-x-auto px-1 py-1">
      {all.map((one) => (
        <button
          key={one ?? ""}
          type="button"
          aria-pressed={one === kind}
          onClick={() => onKind(one)}
          className={`inline-flex items-center gap-1.5 rounded-full border px-2.5 py-0.5 whitespace-nowrap ${one === kind ? "border-accent bg-accent-soft font-medium text-ink" : "border-transparent text-soft hover:bg-sunken hover:text-ink"}`}
        >
          {one === null ? T.everything : T.kinds[one]}
          <span className="text-[0.87rem] text-faint tabular-nums">
            {countText(one === null ? total : counts[one])}
          </span>
        </button>
      ))}
    </fieldset>
  );
}

function Quiet() {
  const { data } = useApi("listRuns", { limit: 1 });
  const last = data?.runs[0];
  return (
    <Empty title={T.quiet}>
      <p className="mb-4">
        {last ? (
          <>
            {T.last} <When at={last.createdAt} />.
          </>
        ) : (
          T.none
        )}{" "}
        {T.quietLead}
      </p>
      <CommandLine command={T.crashTest} />
    </Empty>
  );
}
