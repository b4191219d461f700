import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useApi } from "../../api/use-api.ts";
import { refresh, useActOn } from "../../api/use-refresh.ts";
import { TEXT } from "../../text.ts";
import { AllowedButton } from "../../ui/allowed.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { Bar } from "../../ui/figures.tsx";
import { countText } from "../../ui/numbers.ts";
import { Card, Loaded } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { spanText, When } from "../../ui/time.tsx";
import { deleteLimit, holdLimit, MANAGE, type RateLimit, releaseLimit } from "./queue-acts.ts";
import { LimitDialog } from "./queue-dialog.tsx";

const T = TEXT.queues.limits;

/** Calls and tokens per period, and what is used of them now. */
export function RateLimits() {
  const query = useApi("listRateLimits", {}, { refetchMs: 5_000 });
  const [editing, setEditing] = useState<RateLimit | "new" | null>(null);
  const queries = useQueryClient();
  const act = useActOn("listRateLimits");
  return (
    <Card
      title={T.title}
      acts={
        <AllowedButton permission={MANAGE} small onClick={() => setEditing("new")}>
          {T.create}
        </AllowedButton>
      }
    >
      <p className="px-4 pt-3 text-soft">{T.lead}</p>
      <div className="pb-2">
        <Loaded query={query}>
          {({ limits }) =>
            limits.length === 0 ? (
              <div className="max-w-xl px-4 py-3 text-soft">
                <p className="mb-2">{T.empty}</p>
                <CommandLine command={T.command} />
              </div>
            ) : (
              <Table
                label={T.title}
                rows={limits}
                keyOf={({ name }) => name}
                columns={columnsOf(act, setEditing)}
              />
            )
          }
        </Loaded>
      </div>
      {editing === null ? null : (
        <LimitDialog
          {...(editing === "new" ? {} : { limit: editing })}
          onClose={() => setEditing(null)}
          onDone={() => refresh(queries, ["listRateLimits"])}
        />
      )}
    </Card>
  );
}

function Used({ used, limit }: { readonly used: number; readonly limit: number | undefined }) {
  if (limit === undefined) return <span className="text-soft">{T.used(used, limit)}</span>;
  const part = used / limit;
  return (
    <span className="inline-block min-w-28">
      {countText(used)} / {countText(limit)}
      <Bar part={part} tone={part >= 1 ? "bad" : part >= 0.8 ? "waits" : "accent"} className="mt-1" />
    </span>
  );
}

const columnsOf = (
  act: ReturnType<typeof useActOn>,
  edit: (limit: RateLimit) => void,
): readonly Column<RateLimit>[] => [
  {
    title: T.columns.name,
    grows: true,
    cell: ({ name }) => <span className="font-medium">{name}</span>,
  },
  { title: T.columns.calls, cell: ({ used, calls }) => <Used used={used.calls} limit={calls} /> },
  {
    title: T.columns.tokens,
    spare: "sm",
    cell: ({ used, tokens }) => <Used used={used.tokens} limit={tokens} />,
  },
  { title: T.columns.period, spare: "sm", cell: ({ periodMs }) => spanText(periodMs) },
  { title: T.columns.waiting, align: "right", cell: ({ waiting }) => countText(waiting) },
  {
    title: T.columns.held,
    spare: "sm",
    cell: ({ heldUntil, heldWhy }) =>
      heldUntil === null ? (
        <span className="text-soft">{T.notHeld}</span>
      ) : (
        <span className="text-waits">
          <When at={heldUntil} />
          {heldWhy === null ? null : <span className="block text-[0.87rem] text-soft">{heldWhy}</span>}
        </span>
      ),
  },
  {
    title: T.columns.acts,
    align: "right",
    isActs: true,
    cell: (one) => (
      <span className="flex justify-end gap-1.5">
        <AllowedButton
          permission={MANAGE}
          small
          onClick={() => act(one.heldUntil === null ? holdLimit(one) : releaseLimit(one))}
        >
          {one.heldUntil === null ? T.short.hold : T.short.release}
        </AllowedButton>
        <AllowedButton permission={MANAGE} small onClick={() => edit(one)}>
          {T.short.edit}
        </AllowedButton>
        <AllowedButton permission={MANAGE} small look="danger" onClick={() => act(deleteLimit(one))}>
          {T.short.remove}
        </AllowedButton>
      </span>
    ),
  },
];
