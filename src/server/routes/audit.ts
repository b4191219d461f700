import type { Handlers } from "../call.ts";
import type { auditOperations } from "../contract/audit.ts";
import { linesResponse } from "./lines.ts";
import { who } from "./who.ts";

export const auditRoutes: Handlers<keyof typeof auditOperations> = {
  listAudit: async ({ engine, query }) => engine.audit.list(query),
  getAuditHealth: async ({ engine }) => engine.audit.health(),
  verifyAudit: async ({ engine, body }) => engine.audit.verify(body),
  anchorAudit: async ({ engine }) => engine.audit.anchor(),

  async exportAudit(call) {
    const { journals } = call.query;
    return linesResponse(call.engine.audit.export({ journals, ...who(call) }));
  },
};
