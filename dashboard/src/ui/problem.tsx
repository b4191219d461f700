import { ApiError } from "../api/client.ts";
import { TEXT } from "../text.ts";
import { Button } from "./button.tsx";

/** What went wrong in four lines, as the command line says it. */
export function ProblemView({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const problem = error instanceof ApiError ? error.problem : null;
  const lines = problem
    ? ([
        [TEXT.problem.why, problem.why],
        [TEXT.problem.safe, problem.safe],
        [TEXT.problem.fix, [problem.fix].flat().join("\n")],
      ] as const)
    : [];
  return (
    <div role="alert" className="rounded-lg border border-bad/40 bg-bad-soft/60 p-4">
      <p className="font-medium text-bad">
        {problem ? problem.what : error instanceof TypeError ? TEXT.problem.offline : TEXT.problem.failed}
        {problem ? <span className="ml-2 font-mono text-[0.82rem] font-normal">{problem.code}</span> : null}
      </p>
      <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-[0.93rem]">
        {lines
          .filter(([, text]) => text !== "")
          .map(([name, text]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="break-words whitespace-pre-wrap">{text}</dd>
            </div>
          ))}
      </dl>
      {retry ? (
        <Button small className="mt-3" onClick={retry}>
          {TEXT.problem.again}
        </Button>
      ) : null}
    </div>
  );
}
