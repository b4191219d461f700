import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useApi } from "../../api/use-api.ts";
import { refresh, useActOn } from "../../api/use-refresh.ts";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { AllowedButton } from "../../ui/allowed.tsx";
import { Badge } from "../../ui/badge.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { Card, Empty, Loaded } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useNow, When } from "../../ui/time.tsx";
import { ADMIN, type Made, revokeToken, rotateToken, type Token } from "./token-acts.ts";
import { MadeDialog, TokenDialog } from "./token-dialog.tsx";

const T = TEXT.settings;

/** Who may use the server. */
export function TokenList() {
  const { may } = useSession();
  const query = useApi("listTokens", {}, { enabled: may(ADMIN), refetchMs: 15_000 });
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<Made | null>(null);
  const queries = useQueryClient();
  const act = useActOn("listTokens");
  return (
    <Card
      title={T.tokens}
      acts={
        <AllowedButton permission={ADMIN} small onClick={() => setMaking(true)}>
          <Plus aria-hidden className="size-4" />
          {T.create}
        </AllowedButton>
      }
    >
      <p className="px-4 pt-3 text-soft">{may(ADMIN) ? T.tokensLead : TEXT.allowed.seeing(ADMIN)}</p>
      {may(ADMIN) ? (
        <Loaded query={query}>
          {({ tokens }) =>
            tokens.length === 0 ? (
              <Empty title={T.empty}>
                <CommandLine command={T.command} />
              </Empty>
            ) : (
              <Table
                label={T.tokens}
                rows={tokens.toReversed()}
                keyOf={({ id }) => id}
                columns={columnsOf(act, (answer) => setMade(answer))}
              />
            )
          }
        </Loaded>
      ) : (
        <div className="p-1" />
      )}
      {isMaking ? (
        <TokenDialog
          onClose={() => setMaking(false)}
          onMade={(answer) => {
            setMade(answer);
            refresh(queries, ["listTokens"]);
          }}
        />
      ) : null}
      {made ? <MadeDialog made={made} onClose={() => setMade(null)} /> : null}
    </Card>
  );
}

const scopeText = (scope: Token["scope"]): string =>
  scope === null
    ? T.all
    : [
        ...(scope.workflows ?? []),
        ...Object.entries(scope.labels ?? {}).map(([name, value]) => `${name}=${value}`),
        ...(scope.queues ?? []).map(T.queue),
      ].join(", ");

const TONES = { valid: "good", expired: "calm", revoked: "bad" } as const;

const columnsOf = (
  act: ReturnType<typeof useActOn>,
  onMade: (made: Made) => void,
): readonly Column<Token>[] => [
  {
    title: T.columns.name,
    grows: true,
    cell: ({ name, id, actor }) => (
      <>
        <span className="font-medium">{name}</span>
        {actor === name ? null : <span className="text-soft"> · {actor}</span>}
        <code className="block text-[0.82rem] text-faint">{id}</code>
      </>
    ),
  },
  { title: T.columns.roles, cell: ({ roles }) => roles.join(", ") },
  {
    title: T.columns.scope,
    spare: "md",
    cell: ({ scope }) => <span className="text-soft">{scopeText(scope)}</span>,
  },
  { title: T.columns.state, cell: ({ state }) => <Badge tone={TONES[state]}>{T.states[state]}</Badge> },
  {
    title: T.columns.expires,
    spare: "sm",
    cell: ({ expiresAt }) => (expiresAt === null ? T.never : <When at={expiresAt} />),
  },
  {
    title: T.columns.used,
    spare: "md",
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? T.never : <LastUsed at={lastUsedAt} />),
  },
  {
    title: T.columns.acts,
    align: "right",
    isActs: true,
    cell: (token) =>
      token.state === "valid" ? (
        <span className="flex justify-end gap-1.5">
          <AllowedButton
            permission={ADMIN}
            small
            onClick={() => {
              const rotate = rotateToken(token);
              act({ ...rotate, perform: async (reason) => onMade((await rotate.perform(reason)) as Made) });
            }}
          >
            {T.short.rotate}
          </AllowedButton>
          <AllowedButton permission={ADMIN} small look="danger" onClick={() => act(revokeToken(token))}>
            {T.short.revoke}
          </AllowedButton>
        </span>
      ) : null,
  },
];

const HOUR_MS = 3_600_000;

/** The server remembers the hour only. */
function LastUsed({ at }: { readonly at: number }) {
  return T.withinHours(Math.max(1, Math.ceil((useNow() - at) / HOUR_MS)));
}
