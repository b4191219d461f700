import { useQuery } from "@tanstack/react-query";
import { type AnswerOf, type ApiError, client } from "../../../api/client.ts";
import { useSession } from "../../../session.tsx";
import { TEXT } from "../../../text.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { CommandLine, CopyButton } from "../../../ui/copy.tsx";
import { Loaded } from "../../../ui/page.tsx";
import { When } from "../../../ui/time.tsx";
import { kindText } from "./blocks.ts";

type Trail = AnswerOf<"getTrail">;

/** Who did what to the run, and why; and whether the record of it is intact. */
export default function Audit({ run }: { readonly run: string }) {
  const { may } = useSession();
  const isAllowed = may("audit:read");
  // The whole chain is checked for it, so it isn't asked for with every event.
  const query = useQuery<Trail, ApiError>({
    queryKey: ["trail", run],
    queryFn: ({ signal }) => client.getTrail({ run }, { signal }),
    staleTime: 60_000,
    enabled: isAllowed,
  });
  if (!isAllowed) return <p className="px-4 py-3 text-soft">{TEXT.dialog.may("audit:read")}</p>;
  return (
    <Loaded query={query}>
      {(trail) => (
        <div className="px-4 py-3">
          <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
            <Badge tone={trail.verified ? "good" : "bad"}>
              {trail.verified ? TEXT.run.audit.verified : TEXT.run.audit.broken}
            </Badge>
            <span className="flex min-w-0 items-center gap-1 text-[0.87rem] text-soft">
              {TEXT.run.audit.head} <code className="truncate font-mono">{trail.head}</code>
              <CopyButton text={trail.head} />
            </span>
            <Button small look="quiet" disabled={query.isFetching} onClick={() => void query.refetch()}>
              {TEXT.run.audit.again}
            </Button>
          </div>
          {trail.problems.map(({ seq, problem }) => (
            <p key={`${seq}-${problem}`} className="mb-1 text-bad">
              #{seq} {problem}
            </p>
          ))}
          <Acts trail={trail} />
          <div className="mt-4 max-w-xl">
            <CommandLine command={`holdfast report trail ${run}`} />
          </div>
        </div>
      )}
    </Loaded>
  );
}

function Acts({ trail }: { readonly trail: Trail }) {
  const lines = trail.lines.filter(({ actor }) => actor !== undefined).toReversed();
  const { columns, nobody } = TEXT.run.audit;
  if (lines.length === 0) return <p className="text-soft">{nobody}</p>;
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-left text-[0.93rem]">
        <thead className="text-soft">
          <tr>
            {[columns.when, columns.who, columns.what, columns.why].map((name) => (
              <th key={name} scope="col" className="border-b border-line py-1.5 pr-6 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ seq, at, actor, kind, step, reason }) => (
            <tr key={seq} className="border-b border-line last:border-b-0">
              <td className="py-1.5 pr-6 whitespace-nowrap">
                <When at={at} />
              </td>
              <td className="py-1.5 pr-6">{actor}</td>
              <td className="py-1.5 pr-6">
                {kindText(kind)} <span className="text-soft">{step}</span>
              </td>
              <td className="py-1.5 break-words">{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
