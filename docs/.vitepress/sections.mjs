// The pages of the site in reading order. `npm run docs` makes llms.txt from it, and a test checks that no page is missing.
import { existsSync } from "node:fs";

/** @typedef {{ text: string, link: string }} Page */
/** @typedef {{ text: string, items: Page[] }} Section */

/** @type {(text: string, name: string) => Page} */
const page = (text, name) => ({ text, link: `/${name}` });

/** @type {Section[]} */
const planned = [
  { text: "Start", items: [page("First ten minutes", "start"), page("Use the terminal", "terminal")] },
  { text: "Concepts", items: [page("How it works", "concepts"), page("When to use it", "when")] },
  {
    text: "Guides",
    items: [
      page("Agents", "agents"),
      page("AI SDK agents", "ai-sdk"),
      page("Streams", "streams"),
      page("LangGraph", "langgraph"),
      page("OpenAI agents", "openai-agents"),
      page("Mastra", "mastra"),
      page("HTTP routes", "http"),
      page("Teams", "teams"),
      page("DAGs", "dags"),
      page("YAML workflows", "yaml"),
      page("Typed workflows", "types"),
      page("Gates and approvals", "gates"),
      page("Parallel work and children", "parallel"),
      page("Retries and rate limits", "retries"),
      page("Sagas", "sagas"),
      page("Versions and deploys", "versions"),
      page("Traps that speak", "traps"),
      page("Time travel", "time-travel"),
      page("Testing", "testing"),
      page("Crash tests", "crash-test"),
      page("Your own tables", "transactions"),
    ],
  },
  {
    text: "Operate",
    items: [
      page("Dashboard", "dashboard"),
      page("Control runs", "control"),
      page("Stores", "stores"),
      page("Workers", "workers"),
      page("Queues", "queues"),
      page("Schedules", "schedules"),
      page("Deploy", "deploy"),
      page("Serverless", "serverless"),
      page("Reference stacks", "reference-stacks"),
      page("Temporal", "temporal"),
      page("Inside Temporal's sandbox", "temporal-interpreters"),
      page("Access", "access"),
      page("Security", "security"),
      page("Audit", "audit"),
      page("Encryption", "encryption"),
      page("Backup", "backup"),
      page("Retention", "retention"),
      page("Move runs", "transfer"),
      page("When things fail", "failures"),
      page("Reports", "reports"),
      page("Observability", "observability"),
      page("Service levels and alerts", "alerts"),
      page("Assistants (MCP)", "mcp"),
      page("Compliance", "compliance"),
    ],
  },
  {
    text: "Runbooks",
    items: [
      page("All alerts", "runbooks/index"),
      page("Store away", "runbooks/store-away"),
      page("Chain broken", "runbooks/chain-broken"),
      page("Outcome unknown", "runbooks/in-doubt"),
      page("Recovery loop", "runbooks/recovery-loop"),
      page("Run stalled", "runbooks/run-stalled"),
      page("Run failed", "runbooks/run-failed"),
      page("Run held", "runbooks/run-held"),
      page("Gate waiting", "runbooks/gate-waiting"),
      page("Budget", "runbooks/budget"),
      page("Anchor late", "runbooks/anchor-late"),
      page("Availability", "runbooks/slo-availability"),
      page("Recovery time", "runbooks/slo-recovery"),
      page("Slow writes", "runbooks/slo-write"),
      page("Completion rate", "runbooks/slo-completion"),
      page("Recovery rate", "runbooks/slo-recovery-rate"),
      page("Iterations", "runbooks/slo-iterations"),
      page("Cost", "runbooks/slo-cost"),
      page("Test alert", "runbooks/test"),
    ],
  },
  {
    text: "Reference",
    items: [
      page("Command line", "cli"),
      page("Configuration", "configuration"),
      page("YAML keys", "yaml-keys"),
      page("Management API", "api"),
      page("TypeScript API", "reference/index"),
      page("Errors", "errors"),
      page("Reliability", "reliability"),
      page("Benchmarks", "benchmarks"),
      page("Design decisions", "decisions"),
      page("Where a document says otherwise", "seeds"),
    ],
  },
  { text: "Compare", items: [page("Holdfast and the others", "comparison")] },
];

/**
 * The sections with the pages that exist, by their path in the repository.
 * @type {(isThere: (file: string) => boolean) => Section[]}
 */
export const sectionsWith = (isThere) =>
  planned
    .map((section) => ({ ...section, items: section.items.filter(({ link }) => isThere(`docs${link}.md`)) }))
    .filter(({ items }) => items.length > 0);

export const sections = sectionsWith((file) => existsSync(new URL(`../../${file}`, import.meta.url)));
