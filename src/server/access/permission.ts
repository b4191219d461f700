/** What a caller may be allowed to do. Every operation of the API needs exactly one of these. */
export const PERMISSIONS = [
  /** Lists, status, outline, events with who and why, plans, cost, checkpoints: everything without values. */
  "runs:read",
  /** Figures over all runs, for monitoring: no run is named in them. */
  "metrics:read",
  /** Values as they are stored: inputs, outputs, state. The caller gives a reason, and the reading is recorded. */
  "state:read",
  /** Start, pause, resume, cancel, retry, inject, signal, fork, pin, resolve. */
  "runs:act",
  /** Answer gates and approvals. */
  "gates:answer",
  /** Trails with their hashes, acts over all runs, verification, reports for auditors. */
  "audit:read",
  /** Schedules, queues, workers: see and change how work is handed out. */
  "flow:manage",
  /** What runs stream to their readers, and the streams that clients keep. */
  "streams:read",
  /** Create, write, close and delete the streams that clients keep. */
  "streams:write",
  /** Delete, import, export with values, tokens, settings. */
  "admin",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** A role is a set of permissions with a name. */
export const ROLES = {
  viewer: ["runs:read", "metrics:read"],
  operator: ["runs:read", "metrics:read", "runs:act", "flow:manage"],
  approver: ["runs:read", "metrics:read", "gates:answer"],
  auditor: ["runs:read", "metrics:read", "audit:read", "state:read"],
  /** For Prometheus: it can't list runs. */
  scraper: ["metrics:read"],
  /** For programs that show answers as they are made, or keep streams of their own: they see no runs. */
  streamer: ["streams:read", "streams:write"],
  admin: PERMISSIONS,
} as const satisfies Readonly<Record<string, readonly Permission[]>>;
export type Role = keyof typeof ROLES;

export const isRole = (name: unknown): name is Role => typeof name === "string" && Object.hasOwn(ROLES, name);

/** The permissions of several roles together. */
export const permissionsOf = (roles: readonly Role[]): ReadonlySet<Permission> =>
  new Set(roles.flatMap((role) => [...ROLES[role]]));

/**
 * The runs that a credential is for; everything that is named must match. A run outside it doesn't exist for the caller,
 * and what belongs to no run at all (schedules, queues, workers, tokens) is refused.
 */
export interface Scope {
  readonly workflows?: readonly string[];
  /** Every label with this value. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly queues?: readonly string[];
}

/** Who calls. The actor of everything that this caller does is `actor`: it comes from the credential, never from the request. */
export interface Principal {
  readonly actor: string;
  readonly permissions: ReadonlySet<Permission>;
  /** The credential in a form that may be logged, such as `token 4x8…`; limits are counted for it. */
  readonly credential?: string;
  readonly roles?: readonly Role[];
  /** Missing: all runs. */
  readonly scope?: Scope | null;
  /** When a credential that another service issued ends. */
  readonly expiresAt?: number;
}

/** The part of a run that a scope looks at. */
export interface ScopedRun {
  readonly workflow: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly queue?: string | null;
}

/** What an operation is about. */
export type Subject =
  /** One run. */
  | { readonly run: ScopedRun }
  /** No particular run: a list, which shows only runs in scope. */
  | "list"
  /** Something of the store that belongs to no run. */
  | "store";

/** `unknown`: the caller may not even learn that it exists. */
export type Verdict = "allowed" | "forbidden" | "unknown";

/** Decides whether the caller may do this. The API and the command line ask nowhere else. */
export function decide(principal: Principal, permission: Permission, subject: Subject = "list"): Verdict {
  const { scope = null } = principal;
  if (typeof subject === "object" && !inScope(scope, subject.run)) return "unknown";
  if (!principal.permissions.has(permission)) return "forbidden";
  return subject === "store" && scope !== null ? "forbidden" : "allowed";
}

/** True for a run that the scope lets its bearer see. */
export function inScope(scope: Scope | null, { workflow, labels = {}, queue = null }: ScopedRun): boolean {
  if (scope === null) return true;
  if (scope.workflows && !scope.workflows.includes(workflow)) return false;
  if (scope.queues && (queue === null || !scope.queues.includes(queue))) return false;
  return Object.entries(scope.labels ?? {}).every(
    ([name, value]) => Object.hasOwn(labels, name) && labels[name] === value,
  );
}
