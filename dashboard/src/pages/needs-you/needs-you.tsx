import { Link } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty, Loaded, Page } from "../../ui/page.tsx";
import { Since } from "../../ui/time.tsx";

/** What doesn't go on unless a person does something. */
export default function NeedsYou() {
  const query = useApi("listRuns", { needsYou: true, limit: 50 }, { refetchMs: 15_000 });
  return (
    <Page title={TEXT.nav.needsYou}>
      <Loaded query={query}>
        {({ runs }) =>
          runs.length === 0 ? (
            <Empty title="All quiet" />
          ) : (
            <ul className="grid gap-3 lg:grid-cols-2">
              {runs.map((run) => (
                <li key={run.id} className="rounded-lg border border-line bg-surface p-4">
                  <div className="flex items-center justify-between gap-2">
                    <Link href={`/r/${run.id}`} className="font-mono font-medium hover:underline">
                      {run.id}
                    </Link>
                    <Badge tone={run.tone}>{run.word}</Badge>
                  </div>
                  <p className="mt-1">{run.headline}</p>
                  <p className="mt-1 text-soft">
                    {run.workflow} · <Since at={run.since} />
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}
