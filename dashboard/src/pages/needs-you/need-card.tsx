import {
  CircleDollarSign,
  CircleHelp,
  DoorOpen,
  Hourglass,
  KeyRound,
  type LucideIcon,
  OctagonX,
  RefreshCcwDot,
  ScanEye,
  ShieldAlert,
  Waypoints,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { BulkDialog } from "../../bulk/bulk-dialog.tsx";
import { useSession } from "../../session.tsx";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { Headline } from "../../ui/headline.tsx";
import { countText } from "../../ui/numbers.ts";
import { Since, When } from "../../ui/time.tsx";
import type { Card, Need } from "./groups.ts";
import { NeedButton } from "./need-button.tsx";

const T = TEXT.needsYou;

const ICONS: Readonly<Record<Need["kind"], LucideIcon>> = {
  "in doubt": CircleHelp,
  "recovery loop": RefreshCcwDot,
  stalled: Hourglass,
  review: ScanEye,
  gate: DoorOpen,
  budget: CircleDollarSign,
  held: ShieldAlert,
  key: KeyRound,
  migration: Waypoints,
  failed: OctagonX,
};

/** What may already have happened outside, or stands still, is more than a question. */
const URGENT = new Set<Need["kind"]>(["in doubt", "recovery loop", "stalled", "failed"]);

function Frame({
  kind,
  button,
  children,
}: {
  readonly kind: Need["kind"];
  readonly button: ReactNode;
  readonly children: ReactNode;
}) {
  const Icon = ICONS[kind];
  return (
    <li className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 rounded-lg border border-line bg-surface p-4 sm:grid-cols-[auto_minmax(0,1fr)_auto]">
      <Icon aria-hidden className={`mt-0.5 size-5 ${URGENT.has(kind) ? "text-bad" : "text-waits"}`} />
      <div className="min-w-0">{children}</div>
      <div className="col-start-2 mt-3 sm:col-start-3 sm:mt-0 sm:self-center">{button}</div>
    </li>
  );
}

const Kind = ({ kind }: { readonly kind: Need["kind"] }) => (
  <span className={`font-medium ${URGENT.has(kind) ? "text-bad" : "text-waits"}`}>{T.kinds[kind]}</span>
);

/** One thing that needs a person: what is wrong, since when, what it holds up, and one button. */
export function NeedCard({ need }: { readonly need: Need }) {
  const { kind, run, until } = need;
  return (
    <Frame kind={kind} button={<NeedButton need={need} />}>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <Kind kind={kind} />
        <Link
          href={`/r/${run.id}`}
          className="font-mono text-[0.93rem] font-medium break-all hover:underline"
        >
          {run.name ?? run.id}
        </Link>
        <span className="text-soft wrap-anywhere">{run.workflow}</span>
      </p>
      <p className="mt-1 line-clamp-3 wrap-anywhere first-letter:uppercase">
        <Headline text={run.headline} />
      </p>
      <Facts need={need} until={until} />
    </Frame>
  );
}

/** Runs that failed alike: one card, and one act for all of them. */
export function AlikeCard({
  needs,
  first: { kind, run, errorGroup },
  isMore,
}: Card & { readonly isMore: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const { may } = useSession();
  const count = `${countText(needs.length)}${isMore ? "+" : ""}`;
  const filter = new URLSearchParams({ q: `error:${errorGroup ?? ""}` });
  const button = (
    <Button look="primary" disabled={!may("runs:act")} onClick={() => setOpen(true)}>
      {isMore ? T.resumeAll : T.resumeN(count)}
    </Button>
  );
  return (
    <Frame kind={kind} button={button}>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <Kind kind={kind} />
        <Link href={`/runs?${filter}`} className="font-medium hover:underline">
          {T.alike(count)}
        </Link>
        <span className="text-soft wrap-anywhere">{run.workflow}</span>
      </p>
      <p className="mt-1 line-clamp-3 wrap-anywhere first-letter:uppercase">
        <Headline text={run.headline} />
      </p>
      <p className="mt-2 text-[0.87rem] text-soft">
        {T.longest} <When at={Math.min(...needs.map((one) => one.run.since))} />
      </p>
      {isOpen ? (
        <BulkDialog act="resume" chosen={{ errorGroup: errorGroup ?? "" }} onClose={() => setOpen(false)} />
      ) : null}
    </Frame>
  );
}

function Facts({ need: { run }, until }: { readonly need: Need; readonly until: number | null }) {
  return (
    <p className="mt-2 flex flex-wrap gap-x-4 gap-y-0.5 text-[0.87rem] text-soft">
      <span>
        {T.waits} <Since at={run.since} />
      </span>
      {until === null ? null : (
        <span className="text-waits">
          {T.closes} <When at={until} />
        </span>
      )}
      <span>{run.progress.text}</span>
      {run.parent ? (
        <span>
          {T.blocks}{" "}
          <Link href={`/r/${run.parent.runId}`} className="font-mono hover:underline">
            {run.parent.runId}
          </Link>
        </span>
      ) : null}
    </p>
  );
}
