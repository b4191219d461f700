import { defined } from "../defined.ts";
import type { Store } from "./contract.ts";

type Passed =
  | "blinding"
  | "prepare"
  | "setCacheTtl"
  | "check"
  | "records"
  | "documents"
  | "count"
  | "changes"
  | "hear"
  | "size";

/** The optional parts that a wrapping store passes through. */
export function sealOf(store: Store): Pick<Store, Passed> {
  const prepare = store.prepare?.bind(store);
  const check = store.check?.bind(store);
  const setCacheTtl = store.setCacheTtl?.bind(store);
  const records = store.records?.bind(store);
  const count = store.count?.bind(store);
  const changes = store.changes?.bind(store);
  const hear = store.hear?.bind(store);
  const size = store.size?.bind(store);
  const { blinding, documents } = store;
  return defined({ blinding, prepare, check, setCacheTtl, records, documents, count, changes, hear, size });
}
