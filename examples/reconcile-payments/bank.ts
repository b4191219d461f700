import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** Stands in for a bank that knows idempotency keys: one file for each payment, named after its key. */
export function transfer(invoice: string, cents: number, key: string): string {
  mkdirSync("bank", { recursive: true });
  const [file, draft] = [`bank/${encodeURIComponent(key)}.json`, `bank/.${process.pid}`];
  writeFileSync(draft, JSON.stringify({ invoice, cents }));
  try {
    linkSync(draft, file);
  } catch {
    const known = JSON.parse(readFileSync(file, "utf8")) as { invoice: string };
    if (known.invoice !== invoice) throw new Error(`The key ${key} was used for ${known.invoice}`);
  } finally {
    rmSync(draft);
  }
  return `receipt of ${invoice}`;
}
