import { useMutation } from "@tanstack/react-query";
import { Eye } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { useSession } from "../session.tsx";
import { TEXT } from "../text.ts";
import { Button } from "../ui/button.tsx";
import { ProblemView } from "../ui/problem.tsx";

/** Values are masked until somebody who may see them says why. The reading is recorded. */
export function Reveal<Value>({
  what,
  read,
  children,
}: {
  /** What is hidden, such as "the state at @12". */
  readonly what: string;
  readonly read: (reason: string) => Promise<Value>;
  readonly children: (value: Value, hide: () => void) => ReactNode;
}) {
  const { may } = useSession();
  const [reason, setReason] = useState("");
  const id = useId();
  const reading = useMutation({ mutationFn: read });
  if (reading.data !== undefined) return children(reading.data, reading.reset);
  if (!may("state:read")) return <p className="text-soft">{TEXT.reveal.may(what)}</p>;
  const isReady = reason.trim().length >= 10 && !reading.isPending;
  const submit = (): void => {
    if (isReady) reading.mutate(reason.trim());
  };
  return (
    <div className="flex flex-col gap-2">
      <label htmlFor={id} className="text-soft">
        {TEXT.reveal.hidden(what)}
      </label>
      <div className="flex flex-wrap gap-2">
        <input
          id={id}
          value={reason}
          placeholder={TEXT.reveal.reason}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            submit();
          }}
          className="min-w-0 flex-1 basis-56 rounded-md border border-line-strong bg-surface px-3 py-1.5"
        />
        <Button disabled={!isReady} onClick={submit}>
          <Eye aria-hidden className="size-4" />
          {TEXT.reveal.act}
        </Button>
      </div>
      {reading.isError ? <ProblemView error={reading.error} /> : null}
    </div>
  );
}
