import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { otlpReceiver, spansIn } from "../support/otlp-receiver.ts";
import { treeOf } from "../support/spans.ts";
import type { TraceConfig } from "./trace-child.ts";

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-trace-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DEATHS = 3;

/** Advances the run in a process of its own. Returns the signal that ended it. */
async function advance(config: TraceConfig, url: string): Promise<string | null> {
  const script = childScript("test/crash/trace-child");
  const env = {
    ...process.env,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_METRICS_EXPORTER: "none",
    // So early that the dead have sent something, too.
    OTEL_BSP_SCHEDULE_DELAY: "1",
  };
  const child = spawn(process.execPath, [script, JSON.stringify(config)], { env });
  const said: string[] = [];
  child.stderr.on("data", (part: Buffer) => said.push(String(part)));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (code !== 0 && signal === null) throw new Error(said.join(""));
  return signal;
}

describe("the trace of a run that is killed three times with kill -9", () => {
  it("is one tree at the receiver of OTLP (S3-35)", async () => {
    const config = { file: path.join(folder, "runs.db"), calls: path.join(folder, "calls"), deaths: DEATHS };
    writeFileSync(config.calls, "0");
    const { received, url, close } = await otlpReceiver();
    const signals: (string | null)[] = [];
    for (let life = 0; life <= DEATHS; life++) signals.push(await advance(config, url));
    close();
    expect(signals).toEqual(["SIGKILL", "SIGKILL", "SIGKILL", null]);
    expect(readFileSync(config.calls, "utf8")).toBe(String(DEATHS + 1));
    const spans = spansIn(received).map(({ traceId, spanId, parentSpanId, name }) => ({
      traceId,
      spanId,
      parentSpanId: parentSpanId === "" ? undefined : parentSpanId,
      name,
    }));
    const again = Array.from({ length: DEATHS - 1 }, () => ["  resume fragile", "    deadly"]).flat();
    expect(treeOf(spans).toSorted()).toEqual(
      [
        "run fragile",
        "  first",
        "  deadly",
        ...again,
        "  resume fragile",
        "    deadly",
        "    last",
      ].toSorted(),
    );
  });
});
