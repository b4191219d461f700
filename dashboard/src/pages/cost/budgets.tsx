import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useApi } from "../../api/use-api.ts";
import { refresh, useActOn } from "../../api/use-refresh.ts";
import { TEXT } from "../../text.ts";
import { AllowedButton } from "../../ui/allowed.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { Bar } from "../../ui/figures.tsx";
import { costText, moneyText, percentText } from "../../ui/numbers.ts";
import { Card, Loaded } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { type Budget, deleteBudget, MANAGE_COST } from "./cost-acts.ts";
import { BudgetDialog } from "./cost-dialogs.tsx";

const T = TEXT.budgets;

/** What runs may cost in a month, by label or workflow, and what is spent of it. */
export function Budgets() {
  const query = useApi("listBudgets", {});
  const [editing, setEditing] = useState<Budget | "new" | null>(null);
  const queries = useQueryClient();
  const act = useActOn("listBudgets");
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
          {({ budgets }) =>
            budgets.length === 0 ? (
              <div className="max-w-xl px-4 py-3 text-soft">
                <p className="mb-2">{T.empty}</p>
                <CommandLine command={T.command} />
              </div>
            ) : (
              <Table
                label={T.title}
                rows={budgets}
                keyOf={({ name }) => name}
                columns={columnsOf(act, setEditing)}
              />
            )
          }
        </Loaded>
      </div>
      {editing === null ? null : (
        <BudgetDialog
          {...(editing === "new" ? {} : { budget: editing })}
          onClose={() => setEditing(null)}
          onDone={() => refresh(queries, ["listBudgets"])}
        />
      )}
    </Card>
  );
}

const INK = { within: "text-soft", warning: "text-waits", reached: "text-bad" } as const;
const TONE = { within: "accent", warning: "waits", reached: "bad" } as const;

const columnsOf = (
  act: ReturnType<typeof useActOn>,
  edit: (budget: Budget) => void,
): readonly Column<Budget>[] => [
  {
    title: T.columns.name,
    grows: true,
    cell: ({ name, label, workflow }) => (
      <>
        <span className="font-medium">{name}</span>
        <span className="block text-[0.87rem] text-soft">
          {[label, workflow].filter((one) => one !== undefined).join(" · ") || T.all}
        </span>
      </>
    ),
  },
  {
    title: T.columns.spent,
    align: "right",
    cell: ({ spentUsd, unpriced, usd, share, state }) => (
      <span className="inline-block min-w-28">
        {costText({ costUsd: spentUsd, unpriced })} / {moneyText(usd)}
        <Bar part={share ?? 0} tone={TONE[state]} className="mt-1" />
      </span>
    ),
  },
  {
    title: T.columns.state,
    cell: ({ share, state }) => (
      <span className={INK[state]}>
        {share === null ? T.notKnown : `${T.states[state]} · ${percentText(share)}`}
      </span>
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
        <AllowedButton permission={MANAGE_COST} small look="danger" onClick={() => act(deleteBudget(one))}>
          {T.delete}
        </AllowedButton>
      </span>
    ),
  },
];
