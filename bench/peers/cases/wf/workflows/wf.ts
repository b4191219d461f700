// The common workload for Vercel's workflow package; `stepOf` is set by vercel.mjs in the same process.
async function step(id: string, n: number): Promise<string> {
  "use step";
  return (globalThis as unknown as { stepOf(id: string, n: number): string }).stepOf(id, n);
}

export async function wf(id: string, steps: number): Promise<number> {
  "use workflow";
  for (let n = 0; n < steps; n++) await step(id, n);
  return steps;
}
