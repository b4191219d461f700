import type { Claim, RunRow } from "../../core/types.ts";
import { type Disk, ifThere, writeFiles } from "../disk.ts";
import type { Layout } from "./layout.ts";
import { FORMAT, isKnownVersion, seal, unseal } from "./sealed.ts";

interface Renewed {
  readonly runId: string;
  /** Where the run stood: the next record says itself until when its claim holds. */
  readonly seq: number;
  readonly epoch: number;
  readonly token: string | null;
  readonly until: number;
}

/** Claims that were renewed since their run's last record. A file of its own, because a renewal is no part of the journal. */
export class RenewedClaims {
  readonly #disk: Disk;
  readonly #layout: Layout;
  #renewed = new Map<string, Renewed>();

  constructor(disk: Disk, layout: Layout) {
    this.#disk = disk;
    this.#layout = layout;
  }

  /** Answers what is wrong with the file, if anything: without it, claims only end earlier. */
  async load(): Promise<string | undefined> {
    const bytes = await ifThere(this.#disk.read(this.#layout.claims));
    if (!bytes) return undefined;
    const unsealed = unseal(bytes);
    if ("problem" in unsealed) return unsealed.problem;
    if (!isKnownVersion(unsealed.body["version"])) return "it is of another version";
    const claims = unsealed.body["claims"] as readonly Renewed[];
    this.#renewed = new Map(claims.map((claim) => [claim.runId, claim]));
    return undefined;
  }

  /** The claim of a row as its record has it, with what was renewed since. */
  of({ id, seq, claim }: RunRow): Claim {
    const renewed = this.#renewed.get(id);
    const isCurrent = renewed?.seq === seq && renewed.epoch === claim.epoch && renewed.token === claim.token;
    return isCurrent ? { ...claim, until: renewed.until } : claim;
  }

  /**
   * Replaces the file. Its name is not synced: after a power loss the holder is gone as well, and an older file only
   * lets others in sooner.
   */
  async save(rows: readonly RunRow[], isCurrent: (id: string, seq: number) => boolean): Promise<void> {
    for (const { id, seq, claim } of rows)
      this.#renewed.set(id, { runId: id, seq, epoch: claim.epoch, token: claim.token, until: claim.until });
    for (const { runId, seq } of this.#renewed.values())
      if (!isCurrent(runId, seq)) this.#renewed.delete(runId);
    const draft = this.#layout.temporary();
    const text = seal({ version: FORMAT, claims: [...this.#renewed.values()] });
    await writeFiles(this.#disk, [{ path: draft, text }]);
    await this.#disk.rename(draft, this.#layout.claims);
  }
}
