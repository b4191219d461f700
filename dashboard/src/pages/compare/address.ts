/** What is compared, as the address of the page says. */
export interface Pair {
  readonly from: string;
  readonly to: string;
}

/** Reads `?from=run@12&to=run@14`. */
export function readPair(search: string): Pair {
  const query = new URLSearchParams(search);
  return { from: query.get("from") ?? "", to: query.get("to") ?? "" };
}

/** The run of an address `run@seq`, and the place in it. */
export function splitAddress(address: string): { readonly run: string; readonly at: string } {
  const place = address.indexOf("@");
  return place < 0
    ? { run: address, at: "last" }
    : { run: address.slice(0, place), at: address.slice(place + 1) };
}

/** Where an address is shown on the run's page. */
export function pathOf(address: string): string {
  const { run, at } = splitAddress(address);
  return `/r/${encodeURIComponent(run)}?at=${encodeURIComponent(at)}`;
}
