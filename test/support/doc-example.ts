import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

/** The exports of a page's example, run as printed. `about`: a text that only this example contains. */
export async function docExample<T>(page: string, about: string): Promise<T> {
  const text = readFileSync(path.join(root, "docs", page), "utf8");
  const found = [...text.matchAll(/```ts\n(.*?)```/gs)].flatMap(([, code = ""]) =>
    code.includes(about) ? [code] : [],
  );
  const [code] = found;
  if (code === undefined || found.length > 1) throw new Error(`${page} has ${found.length} such examples`);
  const folder = mkdtempSync(path.join(root, ".tmp-example-"));
  try {
    const file = path.join(folder, "example.ts");
    writeFileSync(
      file,
      code.replaceAll('from "holdfast"', `from ${JSON.stringify(path.join(root, "src/index.ts"))}`),
    );
    return (await import(file)) as T;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
