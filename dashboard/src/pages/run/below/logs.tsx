import { useState } from "react";
import type { AnswerOf } from "../../../api/client.ts";
import { useApi } from "../../../api/use-api.ts";
import { TEXT } from "../../../text.ts";
import { Button } from "../../../ui/button.tsx";
import { ProblemView } from "../../../ui/problem.tsx";
import { When } from "../../../ui/time.tsx";

type Line = AnswerOf<"listLogs">["lines"][number];

const LEVELS = ["info", "warn", "error"] as const;
const PAGE = 200;
const MOST = 1_000;
/** Lines are stored a moment after they are written, and no event tells of them. */
const REFRESH_MS = 2_000;

interface LogsProps {
  readonly run: string;
  readonly onSelect: (step: string) => void;
}

/** The lines that the workflow wrote, newest first. */
export default function Logs({ run, onSelect }: LogsProps) {
  const [level, setLevel] = useState<(typeof LEVELS)[number]>("info");
  const [limit, setLimit] = useState(PAGE);
  const { data, error } = useApi("listLogs", { run, level, limit }, { refetchMs: REFRESH_MS });
  if (error) return <ProblemView error={error} />;
  const lines = data?.lines.toReversed() ?? [];
  const text = TEXT.run.logs;
  return (
    <div>
      <label className="flex items-center gap-2 px-4 py-2 text-[0.93rem]">
        {text.level}
        <select
          className="rounded border border-line bg-surface px-2 py-1"
          value={level}
          onChange={({ target }) => setLevel(target.value as typeof level)}
        >
          {LEVELS.map((one) => (
            <option key={one} value={one}>
              {text.levels[one]}
            </option>
          ))}
        </select>
      </label>
      {data && lines.length === 0 ? (
        <p className="max-w-prose px-4 py-6 text-soft">{level === "info" ? text.empty : text.none}</p>
      ) : (
        <ol
          aria-label={TEXT.run.below.logs}
          className="max-h-112 overflow-y-auto border-y border-line text-[0.93rem]"
        >
          {lines.map((line, index) => (
            <LogRow key={`${line.at}-${lines.length - index}`} line={line} onSelect={onSelect} />
          ))}
        </ol>
      )}
      {data?.more && limit < MOST ? (
        <p className="px-4 py-2">
          <Button small onClick={() => setLimit(MOST)}>
            {text.earlier}
          </Button>
        </p>
      ) : null}
    </div>
  );
}

const TONES: Readonly<Record<Line["level"], string>> = {
  debug: "text-soft",
  info: "",
  warn: "text-waits",
  error: "text-bad",
};

function LogRow({ line, onSelect }: { readonly line: Line; readonly onSelect: (step: string) => void }) {
  const { at, level, message, step, attempt, fields } = line;
  return (
    <li className="flex flex-wrap gap-x-3 px-4 py-1 hover:bg-sunken">
      <span className="text-soft whitespace-nowrap">
        <When at={at} />
      </span>
      <span className={`w-12 ${TONES[level]}`}>{level}</span>
      {step === undefined ? null : (
        <button type="button" className="max-w-60 truncate hover:underline" onClick={() => onSelect(step)}>
          {attempt === undefined || attempt === 1 ? step : TEXT.run.logs.attempt(step, attempt)}
        </button>
      )}
      <span className={`min-w-0 flex-1 wrap-anywhere ${TONES[level]}`}>
        {message}
        {fields === undefined ? null : <code className="ml-2 text-soft">{JSON.stringify(fields)}</code>}
      </span>
    </li>
  );
}
