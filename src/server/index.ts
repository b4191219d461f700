/** The management API, as a fetch handler. */

export {
  PERMISSIONS,
  type Permission,
  type Principal,
  permissionsOf,
  ROLES,
  type Role,
} from "./access/permission.ts";
export { type App, type AppOptions, createApp } from "./app.ts";
export type { Operation } from "./contract/operation.ts";
export { allOperations } from "./contract/operations.ts";
export type { OperationId } from "./contract/paths.ts";
export type { ApiRun, ApiRunItem } from "./contract/shapes.ts";
export type { Problem } from "./problem.ts";
export {
  type RouteAct,
  type RouteStart,
  type WorkflowRoutes,
  type WorkflowRoutesOptions,
  workflowRoutes,
} from "./workflow-routes.ts";
