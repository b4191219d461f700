import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { buildLab } from "../../scripts/build.mjs";

/** Runs before the crash tests, so that the processes they kill run the current sources. */
export default async function setUp(project: TestProject): Promise<() => void> {
  await buildLab();
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-packed-"));
  project.provide("packedIn", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}

declare module "vitest" {
  interface ProvidedContext {
    /** The folder for tarballs that several test files share. */
    packedIn: string;
  }
}
