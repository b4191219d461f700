import type { Audit } from "../audit/audit.ts";
import type { Cause } from "./kinds.ts";
import type { Source } from "./watch.ts";

const EVERY_MS = 60_000;
const BROKEN = "chain-broken:audit";

/** The audit log: changed, or not signed or anchored for longer than it should be. */
export const auditSource = (audit: Pick<Audit, "health">): Source => ({
  everyMs: EVERY_MS,
  async look(now) {
    const { state, problem, anchors } = await audit.health();
    const about = { since: now, run: null, workflow: null };
    const broken: Cause = {
      ...about,
      key: BROKEN,
      kind: "chain-broken",
      severity: "P1",
      summary: `the audit log isn't as it was written: ${problem ?? "it doesn't verify"}`.slice(0, 500),
    };
    const names = anchors.filter(({ isLate }) => isLate).map(({ name }) => name);
    const late: Cause = {
      ...about,
      key: "anchor-late",
      kind: "anchor-late",
      severity: "P2",
      summary: `${problem ?? "the audit log isn't anchored in time"}${names.length === 0 ? "" : ` (${names.join(", ")})`}`,
    };
    return {
      causes: state === "broken" ? [broken] : state === "late" ? [late] : [],
      covers: ({ kind, key }) => key === BROKEN || kind === "anchor-late",
    };
  },
});
