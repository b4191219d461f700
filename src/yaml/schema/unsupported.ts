import type { Path, Problems } from "../problems.ts";

/**
 * Keys of the dialect that Holdfast doesn't support, with the reason. An empty list or `null` requests nothing and
 * passes.
 */
const PLUGINS =
  "the subagents of a plugin need a vendor's runtime; name the folders of its skills under skills, and its servers under mcp_servers";

const OF_AGENTS: Readonly<Record<string, string>> = {
  sandbox: "it belongs to the aca provider",
  plugins: PLUGINS,
};

const OF_RUNTIME: Readonly<Record<string, string>> = {
  skill_injection: "skills are put into the prompt as they are",
  skill_discovery: "the skills on a machine aren't part of a workflow; name their folders under skills",
  plugins: PLUGINS,
  plugin_sources: PLUGINS,
};

const OF_PROVIDER: Readonly<Record<string, string>> = {
  runtime_url: "it connects to a running copilot process",
  runtime_token: "it connects to a running copilot process",
  pool_endpoint: "it belongs to the aca provider",
  api_version: "it belongs to the aca provider",
  inner_provider: "it belongs to the aca provider",
  identifier_scope: "it belongs to the aca provider",
  egress: "it belongs to the aca provider",
  lifecycle: "it belongs to the aca provider",
  auth: "it belongs to the aca provider",
};

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const asksForNothing = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0);

/** Reports known but unsupported keys and removes them, so that they aren't reported again as unknown. */
export function refuseUnsupported(file: unknown, problems: Problems): void {
  if (!isTree(file)) return;
  const { workflow } = file;
  const runtime = isTree(workflow) ? workflow["runtime"] : undefined;
  refuse(runtime, ["workflow", "runtime"], OF_RUNTIME, problems);
  if (isTree(runtime)) refuseProvider(runtime["provider"], problems);
  warnTier(runtime, "default_context_tier", ["workflow", "runtime"], problems);
  refuseSummaries(workflow, problems);
  for (const [path, agent] of agentsOf(file)) {
    refuse(agent, path, OF_AGENTS, problems);
    warnTier(agent, "context_tier", path, problems);
  }
}

function refuse(
  tree: unknown,
  path: Path,
  names: Readonly<Record<string, string>>,
  problems: Problems,
): void {
  if (!isTree(tree)) return;
  for (const [key, reason] of Object.entries(names)) {
    if (!Object.hasOwn(tree, key)) continue;
    if (!asksForNothing(tree[key])) problems.error([...path, key], `${key} is not supported: ${reason}.`);
    delete tree[key];
  }
}

function refuseProvider(provider: unknown, problems: Problems): void {
  if (!isTree(provider)) return;
  const path = ["workflow", "runtime", "provider"];
  refuse(provider, path, OF_PROVIDER, problems);
  for (const key of Object.keys(provider).filter((one) => one.startsWith("hermes_"))) {
    problems.error([...path, key], `${key} is not supported: it belongs to the hermes provider.`);
    delete provider[key];
  }
}

function warnTier(tree: unknown, key: string, path: Path, problems: Problems): void {
  if (!isTree(tree) || asksForNothing(tree[key]) || tree[key] === "default") return;
  problems.warning(
    [...path, key],
    `${key}: ${String(tree[key])} is without effect: only Conductor's copilot provider has tiers. Choose a model with a long context.`,
  );
  delete tree[key];
}

function refuseSummaries(workflow: unknown, problems: Problems): void {
  const context = isTree(workflow) ? workflow["context"] : undefined;
  if (!isTree(context) || context["trim_strategy"] !== "summarize") return;
  const path = ["workflow", "context", "trim_strategy"];
  problems.error(path, "trim_strategy: summarize is not supported; truncate and drop_oldest are.");
  delete context["trim_strategy"];
}

/** Every agent of a file before validation, including those inside for_each. */
export function* agentsOf(file: Tree): Generator<readonly [Path, unknown]> {
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  for (const [index, agent] of list(file["agents"]).entries()) yield [["agents", index], agent];
  for (const [index, group] of list(file["for_each"]).entries())
    if (isTree(group)) yield [["for_each", index, "agent"], group["agent"]];
}
