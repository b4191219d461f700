/** What a caller may be allowed to do. Every operation of the API needs exactly one of these. */
export const PERMISSIONS = [
  /** Lists, status, outline, plans, cost, checkpoints without their values. */
  "runs:read",
  /** Values as they are stored: inputs, outputs, state. The caller gives a reason, and the reading is recorded. */
  "state:read",
  /** Start, pause, resume, cancel, retry, inject, signal, fork, pin, resolve. */
  "runs:act",
  /** Answer gates and approvals. */
  "gates:answer",
  /** Journal events with their actors, verification, reports. */
  "audit:read",
  /** Schedules, queues, workers: see and change how work is handed out. */
  "flow:manage",
  /** Delete, import, export with values, tokens, settings. */
  "admin",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** A role is a set of permissions with a name. */
export const ROLES = {
  viewer: ["runs:read"],
  operator: ["runs:read", "runs:act", "flow:manage"],
  approver: ["runs:read", "gates:answer"],
  auditor: ["runs:read", "audit:read", "state:read"],
  admin: PERMISSIONS,
} as const satisfies Readonly<Record<string, readonly Permission[]>>;
export type Role = keyof typeof ROLES;

/** Who calls. The actor of everything that this caller does is `actor`: it comes from the credential, never from the request. */
export interface Principal {
  readonly actor: string;
  readonly permissions: ReadonlySet<Permission>;
}

/** True when the caller may do what needs this permission. The API and the command line ask nowhere else. */
export const may = (principal: Principal, permission: Permission): boolean =>
  principal.permissions.has(permission);
