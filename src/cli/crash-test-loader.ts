import type { Loaded } from "../testing/crash-test/load-module.ts";
import { loadSettings } from "./config/settings.ts";
import type { Globals } from "./globals.ts";
import type { Host } from "./host.ts";
import { Workflows } from "./workflows.ts";

/** How each process of a crash test finds the workflow: as `holdfast run` does. */
export async function load(named: string, cwd: string, globals: Globals): Promise<Loaded> {
  const settings = await loadSettings({ env: process.env, cwd } as Host, globals);
  const { workflow, all } = await new Workflows(settings, { cwd, env: process.env }).find(named);
  return { workflow, all, input: {} };
}
