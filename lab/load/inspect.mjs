// Loaded into a server: on SIGUSR2 it collects garbage and writes what is left into the file of HOLDFAST_LOAD_REPORT.
import { renameSync, writeFileSync } from "node:fs";

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const { heapUsed, rss, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((one) => one === "TCPSocketWrap").length;
  const file = process.env["HOLDFAST_LOAD_REPORT"] ?? "";
  const mb = (/** @type {number} */ bytes) => Math.round(bytes / 1024 / 1024);
  const text = JSON.stringify({ heapMb: mb(heapUsed), externalMb: mb(external), rssMb: mb(rss), sockets });
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
});
