import { type AnswerOf, client } from "../api/client.ts";
import { TEXT } from "../text.ts";
import { saveFile } from "../ui/save-file.ts";
import { type Act, command } from "./act.ts";

type RunItem = AnswerOf<"listRuns">["runs"][number];

/** The part of a run that its acts need: of a list, or of the run's own page. */
export type ActedRun = Pick<
  RunItem,
  | "id"
  | "workflow"
  | "seq"
  | "status"
  | "control"
  | "waiting"
  | "can"
  | "pinned"
  | "budget"
  | "headline"
  | "word"
>;

/** What `getRun` answers, as one object. */
export const actedOf = ({ run, ...standing }: AnswerOf<"getRun">): ActedRun => ({ ...run, ...standing });

const { acts: words } = TEXT;

/** A run that goes on by itself moves at any moment, which is no reason to refuse what a person wants. */
const isMoving = ({ status }: ActedRun): boolean => status === "running" || status === "queued";

/** The position at which it was seen: the act is refused if somebody else was faster. */
export const seenAt = (run: ActedRun): { readonly seen?: number } => (isMoving(run) ? {} : { seen: run.seq });
export const aboutRun = ({ id, seq }: ActedRun) => ({ run: id, seq });

export const pauseAct = (run: ActedRun): Act => ({
  ...words.pause(run.id),
  cli: (reason) => command(["pause", run.id], reason),
  permission: "runs:act",
  perform: (reason) => client.pauseRun({ run: run.id, reason }, seenAt(run)),
  about: aboutRun(run),
});

export const cancelAct = (run: ActedRun, compensate = false): Act => ({
  ...(compensate ? words.undo(run.id) : words.cancel(run.id)),
  cli: (reason) => command(["cancel", run.id, ...(compensate ? ["--compensate"] : [])], reason),
  permission: "runs:act",
  isDangerous: true,
  perform: (reason) =>
    client.cancelRun({ run: run.id, reason, ...(compensate ? { compensate } : {}) }, seenAt(run)),
  about: aboutRun(run),
});

/** Calls a failed step, or one whose outcome is unknown, again. */
export const retryAct = (run: ActedRun, step: string, now = true): Act => ({
  ...words.retry(step),
  cli: (reason) => command(["retry", `${run.id}:${step}`, ...(now ? ["--now"] : [])], reason),
  permission: "runs:act",
  perform: (reason) => client.retryStep({ run: run.id, step, reason, ...(now ? { now } : {}) }, seenAt(run)),
  about: aboutRun(run),
});

export const migrateAct = (run: ActedRun): Act => ({
  ...words.migrate(run.id),
  cli: (reason) => command(["migrate", run.id], reason),
  permission: "runs:act",
  perform: (reason) => client.migrateRun({ run: run.id, reason }, seenAt(run)),
  about: aboutRun(run),
});

export const pinAct = (run: ActedRun): Act => {
  const act = run.pinned ? "unpin" : "pin";
  return {
    ...words[act](run.id),
    cli: (reason) => command(["checkpoints", act, run.id, "--all"], reason),
    permission: "runs:act",
    perform: (reason) =>
      run.pinned ? client.unpinRun({ run: run.id, reason }) : client.pinRun({ run: run.id, reason }),
    about: aboutRun(run),
  };
};

export const deleteAct = (run: ActedRun): Act => ({
  ...words.delete(run.id),
  cli: (reason) => command(["delete", run.id, "--yes"], reason),
  permission: "admin",
  isDangerous: true,
  perform: (reason) => client.deleteRun({ run: run.id, reason }),
});

/** Saves the run as a file, for another store. */
export const exportAct = (run: ActedRun): Act => ({
  ...words.export(run.id),
  cli: () => command(["export", run.id, "--children", "-o", `${run.id}.jsonl`]),
  permission: "admin",
  perform: async (reason) => {
    const bundle = await client.exportRun({ run: run.id, reason, children: true });
    saveFile(`${run.id}.jsonl`, bundle, "application/x-ndjson");
  },
});
