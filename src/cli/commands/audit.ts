import type { CommandGroup } from "../command.ts";
import { exportLog } from "./audit/export.ts";
import { key, rotate } from "./audit/key.ts";
import { list } from "./audit/list.ts";
import { anchor, verifier, verify } from "./audit/verify.ts";

/** `holdfast audit …`: who did what, and the proof that nothing was changed. */
export const command: CommandGroup = {
  name: "audit",
  summary: "List who did what, and prove that nothing was changed",
  commands: [list, verify, exportLog, anchor, verifier, key, rotate],
  otherwise: "list",
};
