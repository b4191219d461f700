import { Link } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card, Empty, Loaded, Page } from "../../ui/page.tsx";
import { When } from "../../ui/time.tsx";

/** All runs, newest first. */
export default function Runs() {
  const query = useApi("listRuns", { limit: 100 });
  return (
    <Page title={TEXT.nav.runs}>
      <Loaded query={query}>
        {({ runs }) =>
          runs.length === 0 ? (
            <Empty title="No runs yet" />
          ) : (
            <Card>
              <ul className="divide-y divide-line">
                {runs.map((run) => (
                  <li key={run.id} className="flex flex-wrap items-center gap-3 px-4 py-2">
                    <Badge tone={run.tone}>{run.word}</Badge>
                    <Link href={`/r/${run.id}`} className="font-mono hover:underline">
                      {run.id}
                    </Link>
                    <span className="text-soft">{run.workflow}</span>
                    <span className="min-w-0 flex-1 truncate text-soft">{run.headline}</span>
                    <When at={run.createdAt} />
                  </li>
                ))}
              </ul>
            </Card>
          )
        }
      </Loaded>
    </Page>
  );
}
