import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { type FormEvent, useState } from "react";
import { client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { saveFile } from "../../ui/save-file.ts";

const T = TEXT.audit;
type Format = keyof typeof T.formats;

const FORMATS = (Object.keys(T.formats) as Format[]).map((value) => ({ value, name: T.formats[value] }));
const SUBJECTS = [
  { value: "month", name: T.month },
  { value: "run", name: T.oneRun },
] as const;

/** The four reports for auditors as a file, of a month or of one run. */
export function Evidence() {
  const [subject, setSubject] = useState<"month" | "run">("month");
  const [month, setMonth] = useState(() => new Date().toISOString().slice(0, 7));
  const [run, setRun] = useState("");
  const [format, setFormat] = useState<Format>("zip");
  const [reason, setReason] = useState("");
  const about = subject === "month" ? { month: month.trim() } : { run: run.trim() };
  const load = useMutation({
    mutationFn: async () => {
      const { name, type, base64, signed } = await client.makeEvidence({ ...about, format, reason });
      saveFile(
        name,
        Uint8Array.from(atob(base64), (one) => one.charCodeAt(0)),
        type,
      );
      return signed;
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    load.mutate();
  };
  const isWhole = reason.trim() !== "" && (subject === "month" ? month : run).trim() !== "";
  return (
    <Card title={T.evidence}>
      <form onSubmit={submit} className="flex flex-col gap-3 p-4">
        <p className="text-[0.93rem] text-soft">{T.evidenceLead}</p>
        <div className="grid grid-cols-2 gap-3">
          <SelectField label={T.about} value={subject} choices={SUBJECTS} onChange={setSubject} />
          <SelectField label={T.format} value={format} choices={FORMATS} onChange={setFormat} />
        </div>
        {subject === "month" ? (
          <TextField
            label={T.monthName}
            required
            value={month}
            onChange={(event) => setMonth(event.target.value)}
          />
        ) : (
          <TextField label={T.run} required value={run} onChange={(event) => setRun(event.target.value)} />
        )}
        <TextField
          label={T.why}
          required
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <div>
          <Button type="submit" disabled={!isWhole || load.isPending}>
            <Download aria-hidden className="size-4" />
            {T.download}
          </Button>
        </div>
        <output className="block text-[0.87rem] text-soft">
          {load.data === undefined ? null : T.signed(load.data)}
        </output>
        {load.isError ? <ProblemView error={load.error} /> : null}
        <CommandLine
          command={T.evidenceCommand(
            subject === "month" ? `--month ${month.trim()}` : run.trim() || "<run>",
            format,
          )}
        />
      </form>
    </Card>
  );
}
