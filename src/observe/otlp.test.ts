import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ROOT } from "../../test/source-tree.ts";
import { createLab } from "../../test/support/lab.ts";
import { type OtlpJson, otlpReceiver, spansIn } from "../../test/support/otlp-receiver.ts";
import { workflow } from "../index.ts";
import { openTelemetry } from "./index.ts";
import { prometheusName } from "./metrics/prometheus.ts";
import { COUNTED, READ } from "./metrics/specs.ts";

const folder = path.join(ROOT, "deploy/observability");
const read = (file: string): string => readFileSync(path.join(folder, file), "utf8");

type Field = readonly [number: number, value: Buffer | number];

/** The fields of a protobuf message; those of length-delimited ones as bytes. */
function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * factor;
      factor *= 128;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    const length = wire === 2 ? varint() : wire === 1 ? 8 : wire === 5 ? 4 : 0;
    fields.push([number, wire === 0 ? varint() : bytes.subarray(at, (at += length))]);
  }
  return fields;
}

const inside = (bytes: Buffer, number: number): Buffer[] =>
  fieldsOf(bytes).flatMap(([one, value]) => (one === number && typeof value !== "number" ? [value] : []));

/** Resource, scope, then what is in it: fields 1, 2 and 2 of traces and metrics alike. */
const itemsOf = (body: Buffer): Buffer[] =>
  inside(body, 1).flatMap((one) => inside(one, 2).flatMap((scope) => inside(scope, 2)));

const nameIn = (item: Buffer, field: number): string => inside(item, field)[0]?.toString("utf8") ?? "";

const greet = workflow("greet", async (ctx) => ctx.step("hello", () => 1));

async function runOnce(): Promise<void> {
  const lab = createLab();
  const telemetry = await openTelemetry();
  const engine = lab.engine([greet], { observe: telemetry.observe });
  await telemetry.begin({ engine, store: lab.store });
  await lab.drive(engine.start(greet, undefined, { id: "a" }));
  await lab.drive(engine.result("a"));
  await telemetry.close();
}

afterEach(() => void vi.unstubAllEnvs());

describe("an OTLP receiver", () => {
  it("reads traces and metrics sent as JSON (S3-35, S4-26)", async () => {
    const { received, url, close } = await otlpReceiver();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", url);
    vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    await runOnce();
    close();
    const all = received.map(({ path: to, body }) => ({
      to,
      json: JSON.parse(body.toString("utf8")) as OtlpJson,
    }));
    const names = spansIn(received).map(({ name }) => name);
    expect(names.sort()).toEqual(["hello", "run greet"]);
    const metrics = all.flatMap(({ json }) => json.resourceMetrics ?? []).flatMap((one) => one.scopeMetrics);
    const told = metrics.flatMap((scope) => scope.metrics.map(({ name }) => name));
    expect(told).toEqual(
      expect.arrayContaining(["holdfast.checkpoint.write.duration", "holdfast.runs.finished"]),
    );
    expect(new Set(all.map(({ to }) => to))).toEqual(new Set(["/v1/traces", "/v1/metrics"]));
  });

  it("reads them as protobuf, which is the default", async () => {
    const { received, url, close } = await otlpReceiver();
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", url);
    await runOnce();
    close();
    expect(received.every(({ type }) => type === "application/x-protobuf")).toBe(true);
    const of = (to: string) => received.filter((one) => one.path === to).flatMap(({ body }) => itemsOf(body));
    expect(
      of("/v1/traces")
        .map((span) => nameIn(span, 5))
        .sort(),
    ).toEqual(["hello", "run greet"]);
    expect(of("/v1/metrics").map((metric) => nameIn(metric, 1))).toContain("holdfast.runs.finished");
  });

  it("gets nothing when no receiver is named", async () => {
    const { received, close } = await otlpReceiver();
    await runOnce();
    close();
    expect(received).toEqual([]);
  });
});

describe("the dashboard for Grafana and the rules for Prometheus", () => {
  const known = new Set(
    [...Object.values(COUNTED), ...Object.values(READ)].flatMap((spec) => {
      const name = prometheusName(spec);
      return spec.kind === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name];
    }),
  );
  const namesIn = (text: string): string[] => text.match(/\bholdfast_\w+/g) ?? [];

  it("speak only of metrics that exist", () => {
    for (const file of ["alerts.yaml", "grafana.json"])
      expect(
        namesIn(read(file)).filter((name) => !known.has(name)),
        file,
      ).toEqual([]);
  });

  it("are accepted by Prometheus' own tool", ({ skip }) => {
    const rules = spawnSync("promtool", ["check", "rules", path.join(folder, "alerts.yaml")], {
      encoding: "utf8",
    });
    if (rules.error) skip("promtool isn't installed");
    expect(rules.stdout + rules.stderr).toContain("SUCCESS");
    const board = JSON.parse(read("grafana.json")) as {
      panels: { id: number; targets: { expr: string }[] }[];
    };
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    const exprs = board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const text = JSON.stringify({
      groups: [{ name: "board", rules: exprs.map((expr, index) => ({ record: `board:${index}`, expr })) }],
    });
    const file = path.join(mkdtempSync(path.join(tmpdir(), "holdfast-board-")), "board.yaml");
    writeFileSync(file, text);
    const checked = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" });
    rmSync(path.dirname(file), { recursive: true });
    expect(checked.stdout + checked.stderr).toContain(`${exprs.length} rules found`);
  });
});
