import type { Claim, RunRow } from "../../core/types.ts";
import { type Disk, ifThere, writeFiles } from "../disk.ts";
import type { Layout } from "./layout.ts";
import { FORMAT, isKnownVersion, seal, unseal } from "./sealed.ts";

interface Renewed {
  readonly runId: string;
  /** The run's position at the renewal. The next record states itself how long its claim lasts. */
  readonly seq: number;
  readonly epoch: number;
  readonly token: string | null;
  readonly until: number;
}

/**
 * Claims renewed since their run's last record. They have their own file, because a renewal isn't part of the journal.
 */
export class RenewedClaims {
  readonly #disk: Disk;
  readonly #layout: Layout;
  #renewed = new Map<string, Renewed>();

  constructor(disk: Disk, layout: Layout) {
    this.#disk = disk;
    this.#layout = layout;
  }

  /** Loads the file and returns what is wrong with it, if anything. Without it, claims only end earlier. */
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

  /** The claim from the row's record, updated by any later renewal. */
  of({ id, seq, claim }: RunRow): Claim {
    const renewed = this.#renewed.get(id);
    const isCurrent = renewed?.seq === seq && renewed.epoch === claim.epoch && renewed.token === claim.token;
    return isCurrent ? { ...claim, until: renewed.until } : claim;
  }

  /**
   * Replaces the file without syncing its name: after a power loss the holder is gone too, and an older file only lets
   * others in sooner.
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
