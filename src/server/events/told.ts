import type { EventLine } from "../../core/manage/reports/event-page.ts";
import type { ScopedRun } from "../access/permission.ts";

/** An event as all streams tell it. It is put into words once, whoever hears it. */
export interface Told {
  /** What a stream of all runs goes on after. */
  readonly id: string;
  readonly run: ScopedRun;
  readonly line: EventLine;
  /** The message without its id. */
  readonly text: string;
}

export const toldOf = (id: string, run: ScopedRun, line: EventLine): Told => ({
  id,
  run,
  line,
  text: textOf(line),
});

export const textOf = (line: EventLine): string => `event: run\ndata: ${JSON.stringify(line)}\n\n`;

const encoder = new TextEncoder();

/** Events that were found together, and their messages as bytes that streams share. */
export class Batch {
  readonly told: readonly Told[];
  #bytes: Uint8Array | undefined;

  constructor(told: readonly Told[]) {
    this.told = told;
  }

  get bytes(): Uint8Array {
    return (this.#bytes ??= bytesOf(this.told));
  }
}

/** The messages of a stream of all runs. */
export const bytesOf = (told: readonly Told[]): Uint8Array =>
  encoder.encode(told.map(({ id, text }) => `id: ${id}\n${text}`).join(""));
