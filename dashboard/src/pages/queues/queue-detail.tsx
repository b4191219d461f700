import { useState } from "react";
import { Link } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { useActOn } from "../../api/use-refresh.ts";
import { TEXT } from "../../text.ts";
import { AllowedButton } from "../../ui/allowed.tsx";
import { countText } from "../../ui/numbers.ts";
import { Table } from "../../ui/table.tsx";
import { partText } from "../runs/filter.ts";
import { deleteQueue, MANAGE, type Queue } from "./queue-acts.ts";
import { QueueDialog } from "./queue-dialog.tsx";

const T = TEXT.queues;

/** The keys of a queue, and what is seldom done to it. */
export function QueueDetail({ queue, onChange }: { readonly queue: Queue; readonly onChange: () => void }) {
  const { data } = useApi("getQueue", { name: queue.name }, { refetchMs: 5_000 });
  const [isEditing, setEditing] = useState(false);
  const act = useActOn("listQueues", "getQueue");
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <AllowedButton permission={MANAGE} small onClick={() => setEditing(true)}>
          {T.form.verb}
        </AllowedButton>
        <AllowedButton permission={MANAGE} small look="danger" onClick={() => act(deleteQueue(queue))}>
          {T.remove.verb}
        </AllowedButton>
        <Link
          href={`/runs?${new URLSearchParams({ q: partText({ key: "queue", value: queue.name, isNot: false }) })}`}
          className="underline"
        >
          {T.runs}
        </Link>
      </div>
      {data && data.keys.length > 0 ? (
        <section className="max-w-xl">
          <h3 className="font-medium">{T.keys}</h3>
          <Table
            label={T.keys}
            rows={data.keys.slice(0, 50)}
            keyOf={({ key }) => JSON.stringify(key)}
            columns={[
              {
                title: T.keyColumns.key,
                grows: true,
                cell: ({ key }) =>
                  key === null ? (
                    <span className="text-soft">{T.noKey}</span>
                  ) : (
                    <code className="break-all">{key}</code>
                  ),
              },
              { title: T.keyColumns.running, align: "right", cell: ({ running }) => countText(running) },
              { title: T.keyColumns.waiting, align: "right", cell: ({ waiting }) => countText(waiting) },
            ]}
          />
          {data.moreKeys ? <p className="mt-1 text-soft">{T.moreKeys}</p> : null}
        </section>
      ) : null}
      {isEditing ? <QueueDialog queue={queue} onClose={() => setEditing(false)} onDone={onChange} /> : null}
    </div>
  );
}
