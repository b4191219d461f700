import type { Scene } from "./play.ts";

const order = (id: string): string => `holdfast run order.mts --id ${id}`;
const NO_SERVER = "needs a server of the reader's own; test/damage and test/crash restore real ones";
const INSTALLS = "installs packages over the network; test/play.test.ts does it with the packed package";
const CERTIFICATE =
  'openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 1 -subj "/CN=localhost" 2> openssl.log';

/** By page and number of the block: how it is executed, or why it isn't. */
export const SCENES: Readonly<Record<string, Scene | string>> = {
  "docs/access.md 1": "needs a server at a fixed port; the requests of docs/api.md are made to a real one",
  "docs/access.md 2": {},
  "docs/access.md 3": { before: `${CERTIFICATE}\nholdfast token create ops --role admin` },
  "docs/alerts.md 1": { before: "holdfast run flow.ts" },
  "docs/alerts.md 2": {
    without: {
      'holdfast alerts ack run-failed:pay-17 --reason "the bank is down"':
        "an alert opens when a worker or server looks, a while later; src/cli/commands/alerts.test.ts acknowledges one",
    },
  },
  "docs/api.md 1": "is executed by src/server/docs.test.ts",
  "docs/api.md 2": "is executed by src/server/docs.test.ts",
  "docs/api.md 3": "is executed by src/server/docs.test.ts",
  "docs/api.md 4": "is executed by src/server/docs.test.ts",
  "docs/api.md 5": "is executed by src/server/docs.test.ts",
  "docs/api.md 6": "is executed by src/server/docs.test.ts",
  "docs/audit.md 1": {
    before: "holdfast run flow.ts",
    with: {
      "--out audit.key ": "--out audit.key > key.txt; PUBLIC_KEY=$(sed -n 's/.*verifies: //p' key.txt) ",
      " --anchor /mnt/worm/holdfast.heads": "",
      " --anchor holdfast.heads": "",
    },
  },
  "docs/backup.md 1":
    "needs sqlite3, which not every machine has; src/stores/sqlite/restored.test.ts does it",
  "docs/backup.md 2": "goes with the block before it",
  "docs/backup.md 3": NO_SERVER,
  "docs/backup.md 4": {
    before: "holdfast run flow.ts --store file:./runs",
    after: "holdfast list --store file:./runs",
  },
  "docs/backup.md 5": NO_SERVER,
  "docs/backup.md 6": NO_SERVER,
  "docs/backup.md 7": { before: "mkdir checkpoints && touch checkpoints/one" },
  "docs/compliance.md 1": "begins with a file from the auditor's mail; docs/reports.md makes one",
  "docs/compliance.md 2": NO_SERVER,
  "docs/compliance.md 3": "goes with the block before it",
  "docs/control.md 1": { before: order("order-7"), waits: true },
  "docs/control.md 2": { before: order("order-7") },
  "docs/dashboard.md 1": "opens a browser; test/browser does it",
  "docs/dashboard.md 2": {},
  "docs/deploy.md 1": {},
  "docs/deploy.md 2": { before: "holdfast token create ops --role admin" },
  "docs/deploy.md 3": "needs a container engine and a cluster",
  "docs/encryption.md 1": {},
  "docs/failures.md 1": {
    before: order("order-7"),
    with: { "order-7@28": "order-7@9", "--fresh": "--fresh --yes" },
    waits: true,
  },
  "docs/gates.md 1": {
    before: `${order("press-1")}\n${order("press-2")}`,
    with: { "approve press-1": "approve press-2" },
  },
  "docs/index.md 1": INSTALLS,
  "docs/mcp.md 1": { with: { "npm install @modelcontextprotocol/server": "" } },
  "docs/mcp.md 2": {},
  "docs/observability.md 1": {},
  "docs/observability.md 2": INSTALLS,
  "docs/observability.md 3": "works until it is stopped; src/cli/commands/logs.test.ts reads what is logged",
  "docs/queues.md 1": {},
  "docs/queues.md 2": {},
  "docs/reference-stacks.md 1": NO_SERVER,
  "docs/reports.md 1": { before: order("order-7") },
  "docs/reports.md 2": {
    before: `${order("order-7")}
holdfast audit key example.com/audit --out audit.key > key.txt
export HOLDFAST_AUDIT_KEY="$(cat audit.key)" PUBLIC_KEY="$(sed -n 's/.*verifies: //p' key.txt)"`,
    with: { "2026-11": "$(date -u +%Y-%m)", "<public-key>": '"$PUBLIC_KEY"' },
  },
  "docs/retries.md 1": {
    before: "holdfast run fetch.mts --id aapl || true\nholdfast run fetch.mts --id slow || true\ntouch open",
    with: { "resume aapl --now": "resume slow --now", "retry aapl:fetch": "list" },
  },
  "docs/runbooks": {
    before: `${order("order-7")}\nholdfast audit key example.com/audit --out audit.key\nexport HOLDFAST_AUDIT_KEY="$(cat audit.key)"`,
    with: {
      "<run>": "order-7",
      "<gate>": "signoff",
      "<step>": "charge",
      "migrate <file>": "migrate v2.ts --yes",
      " --anchor <file>": "",
    },
  },
  "docs/schedules.md 1": { before: "echo 'workflows: [flows/report.ts]' > holdfast.config.yaml" },
  "docs/security.md 1": { before: "holdfast run flow.ts", with: { " --anchor anchors.txt": "" } },
  "docs/temporal.md 1": "needs a Temporal server; src/adapters/temporal is tested with a real one",
  "docs/terminal.md 1": { with: { "flow.yaml": "flow.ts" } },
  "docs/terminal.md 2": { before: order("q1"), with: { "q1@33": "q1@6", "q1@51": "q1@9" }, waits: true },
  "docs/time-travel.md 1": {
    before: order("order-7"),
    with: { "order-7@31": "order-7@9", "order-7@12": "order-7@6" },
  },
  "docs/time-travel.md 2": { before: order("order-7"), with: { "order-7@12": "order-7@6" }, waits: true },
  "docs/transfer.md 1": {
    before: `${order("order-7")}\nopenssl genpkey -algorithm ed25519 -out key.pem\nopenssl pkey -in key.pem -pubout -out public.pem`,
    with: { "postgres://db.internal/runs": "other.db" },
  },
  "docs/versions.md 1": { before: order("order-7"), with: { "migrate v2.ts\n": "migrate v2.ts --yes\n" } },
  "docs/workers.md 1": {},
  "docs/yaml.md 1": { waits: true },
};
