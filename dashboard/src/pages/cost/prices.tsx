import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useApi } from "../../api/use-api.ts";
import { refresh, useActOn } from "../../api/use-refresh.ts";
import { TEXT } from "../../text.ts";
import { AllowedButton } from "../../ui/allowed.tsx";
import { moneyText } from "../../ui/numbers.ts";
import { Card, Loaded } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { deletePrice, MANAGE_COST, type Price } from "./cost-acts.ts";
import { PriceDialog } from "./cost-dialogs.tsx";

const T = TEXT.prices;

/** What models cost, from when on, and where that was read. */
export function Prices() {
  const query = useApi("listPrices", {});
  const [editing, setEditing] = useState<Price | "new" | null>(null);
  const queries = useQueryClient();
  const act = useActOn("listPrices");
  return (
    <Card
      title={T.title}
      acts={
        <AllowedButton permission={MANAGE_COST} small onClick={() => setEditing("new")}>
          {T.create}
        </AllowedButton>
      }
    >
      <p className="px-4 pt-3 text-soft">{T.lead}</p>
      <div className="pb-2">
        <Loaded query={query}>
          {({ prices }) => (
            <Table
              label={T.title}
              rows={prices}
              keyOf={({ model, from, set }) => `${model}@${from}${set === null ? "" : "!"}`}
              columns={columnsOf(act, setEditing)}
            />
          )}
        </Loaded>
      </div>
      {editing === null ? null : (
        <PriceDialog
          {...(editing === "new" ? {} : { price: editing })}
          onClose={() => setEditing(null)}
          onDone={() => refresh(queries, ["listPrices"])}
        />
      )}
    </Card>
  );
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

const columnsOf = (
  act: ReturnType<typeof useActOn>,
  edit: (price: Price) => void,
): readonly Column<Price>[] => [
  {
    title: T.columns.model,
    grows: true,
    cell: ({ model, isCurrent }) => (
      <>
        <span className="font-medium break-words">{model}</span>
        {isCurrent ? null : <span className="ml-2 text-[0.87rem] text-soft">{T.notNow}</span>}
      </>
    ),
  },
  { title: T.columns.input, align: "right", cell: ({ input }) => moneyText(input) },
  { title: T.columns.output, align: "right", cell: ({ output }) => moneyText(output) },
  { title: T.columns.from, spare: "sm", cell: ({ from }) => day(from) },
  {
    title: T.columns.source,
    spare: "md",
    cell: ({ source, set }) => (
      <span className="break-all text-soft">{set?.by ? `${source} · ${set.by}` : source}</span>
    ),
  },
  {
    title: T.columns.acts,
    align: "right",
    isActs: true,
    cell: (one) => (
      <span className="flex justify-end gap-1.5">
        <AllowedButton permission={MANAGE_COST} small onClick={() => edit(one)}>
          {T.edit}
        </AllowedButton>
        {one.set === null ? null : (
          <AllowedButton permission={MANAGE_COST} small look="danger" onClick={() => act(deletePrice(one))}>
            {T.delete}
          </AllowedButton>
        )}
      </span>
    ),
  },
];
