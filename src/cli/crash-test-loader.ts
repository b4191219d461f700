import type { Loaded } from "../testing/crash-test/load-module.ts";
import { loadSettings } from "./config/settings.ts";
import type { Globals } from "./globals.ts";
import type { Host } from "./host.ts";
import { Workflows } from "./workflows.ts";

/** How each process of a crash test loads the workflow and its input: like `holdfast run`. */
export async function load(named: string, cwd: string, globals: Globals, written: unknown): Promise<Loaded> {
  const settings = await loadSettings({ env: process.env, cwd } as Host, globals);
  const { workflow, all, yaml } = await new Workflows(settings, { cwd, env: process.env }).find(named);
  const given = written ?? {};
  return {
    workflow,
    all,
    input: yaml ? yaml.parseInputs(given as Readonly<Record<string, unknown>>) : given,
  };
}
