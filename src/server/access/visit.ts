import type { Principal } from "./permission.ts";

/** What the server learns about one request on its way in. */
export interface Visit {
  /** The address of the caller. */
  readonly address: string;
  /** Known once the operation has asked who calls. */
  principal?: Principal;
  /** The seconds to wait, if there were too many requests. */
  retryAfter?: number;
}

/** Visits by request, so that what stands around the API knows what was found out inside it. */
export class Visits {
  readonly #visits = new WeakMap<Request, Visit>();

  begin(request: Request, visit: Visit): void {
    this.#visits.set(request, visit);
  }

  /** The visit of a request; one that came in another way has no address. */
  of(request: Request): Visit {
    const known = this.#visits.get(request);
    if (known) return known;
    const visit: Visit = { address: "unknown" };
    this.#visits.set(request, visit);
    return visit;
  }
}
