import { useApi } from "../../api/use-api.ts";
import { TEXT } from "../../text.ts";
import { Badge } from "../../ui/badge.tsx";
import { CommandLine, CopyButton } from "../../ui/copy.tsx";
import { countText } from "../../ui/numbers.ts";
import { Card, Loaded } from "../../ui/page.tsx";
import { When } from "../../ui/time.tsx";

const T = TEXT.audit.heads;
const REFRESH_MS = 10_000;

/** The newest signed head of the store's log, how far its anchors are, and what nothing proves yet. */
export function Heads() {
  const query = useApi("getAuditHealth", {}, { refetchMs: REFRESH_MS });
  return (
    <Card title={T.title}>
      <Loaded query={query}>
        {({ state, head, unsigned, anchors, verified, problem }) => (
          <div className="flex flex-col gap-3 p-4">
            <p className="flex items-center gap-2">
              <Badge tone={T.tones[state]}>{T.states[state]}</Badge>
            </p>
            {problem === null ? null : (
              <p className={state === "broken" ? "text-bad" : "text-waits"}>{problem}</p>
            )}
            {head === null ? (
              <>
                <p className="text-soft">{T.off}</p>
                <CommandLine command={T.offCommand} />
              </>
            ) : (
              <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-[0.93rem]">
                <dt className="text-soft">{T.signed}</dt>
                <dd>
                  {T.leaves(countText(head.size))} · <When at={head.at} />
                </dd>
                <dt className="text-soft">{T.unsigned}</dt>
                <dd>{T.leaves(countText(unsigned))}</dd>
                <dt className="text-soft">{T.log}</dt>
                <dd className="truncate font-mono text-[0.87rem]" title={head.origin}>
                  {head.origin}
                </dd>
                {verified === null ? null : (
                  <>
                    <dt className="text-soft">{T.verified}</dt>
                    <dd className={verified.ok ? "" : "text-bad"}>
                      <When at={verified.at} /> · {verified.ok ? T.intact : T.found(verified.problems)}
                    </dd>
                  </>
                )}
              </dl>
            )}
            {head === null ? null : (
              <div>
                <p className="mb-1 text-[0.87rem] text-soft">{T.note}</p>
                <div className="flex items-start gap-2">
                  <pre
                    className="max-h-32 min-w-0 flex-1 overflow-auto rounded-md bg-sunken p-2 text-[0.8rem]"
                    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must reach it
                    tabIndex={0}
                  >
                    {head.note}
                  </pre>
                  <CopyButton text={head.note} label={T.copy} />
                </div>
              </div>
            )}
            {head === null ? null : <Anchors anchors={anchors} size={head.size} />}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

interface Anchor {
  readonly name: string;
  readonly size: number;
  readonly at: number;
  readonly isLate: boolean;
  readonly error?: string;
}

function Anchors({ anchors, size }: { readonly anchors: readonly Anchor[]; readonly size: number }) {
  if (anchors.length === 0) return <p className="text-[0.87rem] text-soft">{T.noAnchors}</p>;
  return (
    <ul aria-label={T.anchors} className="flex flex-col gap-2 text-[0.93rem]">
      {anchors.map(({ name, size: has, at, isLate, error }) => (
        <li key={name}>
          <p className="flex items-center gap-2">
            <span className="min-w-0 truncate font-medium" title={name}>
              {name}
            </span>
            <Badge tone={isLate ? "waits" : "good"}>
              {isLate ? T.late : T.upTo(countText(has), has === size)}
            </Badge>
          </p>
          <p className="text-[0.87rem] text-soft">
            {error === undefined ? <When at={at} /> : <span className="text-bad">{error}</span>}
          </p>
        </li>
      ))}
    </ul>
  );
}
