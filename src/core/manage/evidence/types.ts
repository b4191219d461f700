import type { StoreCapabilities } from "../../store/contract.ts";
import type { ActLine } from "../reports/act-page.ts";
import type { CapacityReport } from "../reports/capacity.ts";
import type { EffectReport } from "../reports/effects.ts";
import type { LookedAt, Period } from "../reports/period.ts";
import type { RecoveryReport } from "../reports/recoveries.ts";
import type { AuditTrail } from "../reports/trail.ts";
import type { Drill } from "./drill.ts";

/** The four artefacts, in the order of the document. */
export const ARTEFACTS = ["trail", "recoveries", "effects", "capacity"] as const;
export type Artefact = (typeof ARTEFACTS)[number];

/** What evidence is wanted about: one run and those it started, or a period, which is usually a month. */
export interface EvidenceQuery {
  readonly run?: string;
  /** A month in UTC: `2026-11`. */
  readonly month?: string;
  /** In epoch milliseconds, instead of a month. */
  readonly since?: number;
  readonly until?: number;
  readonly workflow?: string;
  /** The most runs to look at, newest first. Default: all. */
  readonly runs?: number;
  /** Default: all four. */
  readonly artefacts?: readonly Artefact[];
  /** Reports of crash tests, to be included as proof that recovery was exercised. */
  readonly drills?: readonly Drill[];
  /** Who asks for it. It is written on the first page. */
  readonly by: string;
}

/** One run of a period: what became of it, and whether its record is intact. */
export interface TrailOfRun
  extends Pick<
    AuditTrail,
    "run" | "workflow" | "version" | "status" | "createdAt" | "finishedAt" | "head" | "verified" | "problems"
  > {
  readonly events: number;
}

/** The execution trail: every line for one run; for a period each run with its head, and all acts on them. */
export interface TrailArtefact extends LookedAt {
  readonly runs: readonly TrailOfRun[];
  readonly damaged: number;
  /** What people and outside programs did, oldest first. */
  readonly acts: readonly ActLine[];
  /** The whole trail of the run that was asked for; absent for a period. */
  readonly trail?: AuditTrail;
}

/** How fast a store grows, and how fast retention empties it. */
export interface Growth {
  readonly days: number;
  readonly bytesPerDay: number;
  readonly runsPerDay: number;
  /** Runs that lost all their values, divided by the runs that began; `null` when none began. */
  readonly expiryRate: number | null;
  readonly expired: number;
  readonly dropped: number;
  /** What the store would hold 30 days later at this rate, if retention dropped nothing. */
  readonly bytesIn30Days: number;
}

/** `growth` is that of the store, so it is missing for one run. */
export type CapacityArtefact = CapacityReport & { readonly growth?: Growth };

/** Evidence for auditors: data without values of runs. `schema` changes when a field does. */
export interface Evidence {
  readonly kind: "holdfast-evidence";
  readonly schema: 1;
  readonly subject: Period & {
    readonly run?: string;
    readonly month?: string;
    readonly workflow?: string;
  };
  readonly madeAt: number;
  readonly madeBy: string;
  readonly store: {
    readonly kind: string;
    /** Told apart from every other store, and from copies that were put back. */
    readonly id: string;
    readonly durability: StoreCapabilities["durability"];
  };
  readonly trail: TrailArtefact | null;
  readonly recoveries: RecoveryReport | null;
  readonly effects: EffectReport | null;
  readonly capacity: CapacityArtefact | null;
  readonly drills: readonly Drill[];
}
