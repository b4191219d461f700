import type { Head } from "./heads.ts";
import type { StreamState } from "./state.ts";

/** A stream that clients keep, as it is now. */
export interface KeptStream {
  readonly path: string;
  readonly head: Head;
  readonly state: StreamState;
}
