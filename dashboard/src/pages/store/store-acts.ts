import { type Act, command } from "../../acts/act.ts";
import { type AnswerOf, client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { bytesText } from "../../ui/numbers.ts";

export type Preview = AnswerOf<"previewRetention">;

export const PRESETS = ["default", "seed0", "dag", "conductor", "agentic", "forever"] as const;
export type Preset = (typeof PRESETS)[number];

const T = TEXT.store;

export const pruneAct = (policy: Preset, { runs, bytes }: Preview): Act => ({
  title: T.prune.title,
  effect: T.pruneEffect(runs.length, bytesText(bytes)),
  verb: T.prune.verb,
  reasons: T.prune.reasons,
  isDangerous: true,
  permission: "admin",
  cli: (reason) => command(["checkpoints", "prune", "--policy", policy], reason),
  perform: (reason) => client.pruneValues({ policy, reason }),
});

export const unpinAct = ({ id, seq }: { readonly id: string; readonly seq: number }): Act => ({
  title: T.unpin.title(id),
  effect: T.unpin.effect,
  verb: T.unpin.verb,
  reasons: T.unpin.reasons,
  permission: "runs:act",
  cli: (reason) => command(["checkpoints", "unpin", id], reason),
  perform: (reason) => client.unpinRun({ run: id, reason }, { seen: seq }),
  about: { run: id, seq },
});
