import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { type FormEvent, useState } from "react";
import { client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { saveFile } from "../../ui/save-file.ts";

const T = TEXT.audit;

/** The trail of one run as a file: what happened, who did it and why, with the hashes of its chain. */
export function Evidence() {
  const [run, setRun] = useState("");
  const load = useMutation({
    mutationFn: async (id: string) => {
      const trail = await client.getTrail({ run: id });
      saveFile(`${id}.trail.json`, JSON.stringify(trail, null, 2));
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    load.mutate(run.trim());
  };
  return (
    <Card title={T.evidence}>
      <form onSubmit={submit} className="flex flex-col gap-3 p-4">
        <p className="text-[0.93rem] text-soft">{T.evidenceLead}</p>
        <TextField label={T.run} required value={run} onChange={(event) => setRun(event.target.value)} />
        <div>
          <Button type="submit" disabled={run.trim() === "" || load.isPending}>
            <Download aria-hidden className="size-4" />
            {T.download}
          </Button>
        </div>
        {load.isError ? <ProblemView error={load.error} /> : null}
        <CommandLine command={T.trailCommand(run.trim() || "<run>")} />
      </form>
    </Card>
  );
}
