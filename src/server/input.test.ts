import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { workflow } from "../index.ts";
import { allOperations } from "./contract/operations.ts";

const quick = workflow("quick", async (ctx) => ctx.step("one", () => 1));

interface Said {
  readonly status: number;
  readonly code?: unknown;
  readonly text: string;
}

async function stage() {
  const { send } = createApiStage([quick]);
  const ask = async (...request: Parameters<typeof send>): Promise<Said> => {
    const response = await send(...request);
    const text = await response.text();
    const problem: unknown = text.startsWith("{") ? JSON.parse(text) : {};
    const code =
      typeof problem === "object" && problem !== null && "code" in problem ? problem.code : undefined;
    return { status: response.status, code, text };
  };
  return ask;
}

describe("bad input", () => {
  it("gets a constant answer for unknown routes and methods, and never more than that", async () => {
    const ask = await stage();
    for (const path of [
      "/",
      "/v1",
      "/v1/nothing",
      "/v1/runs/r/nothing",
      "/v2/runs",
      "/v1/runs/../../etc/passwd",
    ])
      expect(await ask("GET", path)).toMatchObject({ status: 404, code: "HF-6001" });
    for (const { path } of allOperations) {
      const filled = path.replace(/\{\w+\}/g, "x");
      expect(await ask("PATCH", filled)).toMatchObject({ status: 405, code: "HF-6002" });
    }
    const [one, two] = [await ask("GET", "/v1/a"), await ask("GET", "/v1/b?token=x")];
    expect(one.text).toBe(two.text);
  });

  it("refuses malformed ids, filters, cursors and unknown parameters", async () => {
    const ask = await stage();
    for (const path of ["/v1/runs/a%20b", `/v1/runs/${"x".repeat(65)}`, "/v1/runs/..%2f..%2fetc"])
      expect((await ask("GET", path)).status, path).toBe(400);
    for (const query of [
      "status=nope",
      "limit=0",
      "limit=201",
      "limit=1e2",
      "limit=1&limit=2",
      "pruned=yes",
      "workflow=",
      "cursor=%00",
      "cursor=abc",
      "unknown=1",
      "__proto__=1",
      "parent=a'--",
    ])
      expect((await ask("GET", `/v1/runs?${query}`)).status, query).toBe(400);
    for (const query of ["limit=200", "limit=1", "status=failed&status=paused", "pruned=true"])
      expect((await ask("GET", `/v1/runs?${query}`)).status, query).toBe(200);
    expect(await ask("GET", "/v1/runs/r?x=1")).toMatchObject({ status: 400, code: "HF-6004" });
  });

  it("names what is missing, and what a wrong name may have meant", async () => {
    const ask = await stage();
    const post = (path: string, body: object) =>
      ask("POST", path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
    expect((await ask("GET", "/v1/runs?statsu=failed")).text).toContain(
      "The request is not valid: it takes no statsu (did you mean status?).",
    );
    expect((await post("/v1/runs", { worklfow: "quick" })).text).toContain(
      "workflow is missing; it takes no worklfow (did you mean workflow?)",
    );
  });

  it("refuses bodies of another type, that are no JSON, too large, too deep or strange", async () => {
    const ask = await stage();
    const post = (body: string, type = "application/json") =>
      ask("POST", "/v1/runs", { body, headers: { "content-type": type } });
    const good = '{"workflow":"quick"}';
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "application/xml",
    ])
      expect(await post(good, type)).toMatchObject({ status: 415, code: "HF-6003" });
    for (const body of ["{", "nul", '{"workflow":"quick",}', "\u0000"])
      expect(await post(body), body).toMatchObject({ status: 400, code: "HF-6005" });
    for (const key of ["__proto__", "constructor", "prototype"])
      expect(await post(`{"workflow":"quick","input":{"a":[{"${key}":{}}]}}`)).toMatchObject({
        code: "HF-6005",
      });
    for (const body of ["[]", '"x"', "1", '{"workflow":1}', '{"workflow":"quick","actor":"root"}', "{}"])
      expect(await post(body), body).toMatchObject({ status: 400, code: "HF-6004" });
    const nested = (depth: number) => `{"workflow":"quick","input":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect((await post(nested(63))).status).toBe(200);
    expect(await post(nested(64))).toMatchObject({ status: 413, code: "HF-1040" });
    const sized = (size: number) => `{"workflow":"quick","input":"${"x".repeat(size - 31)}"}`;
    expect(sized(1024 * 1024)).toHaveLength(1024 * 1024);
    expect((await post(sized(1024 * 1024))).status).toBe(200);
    expect(await post(sized(1024 * 1024 + 1))).toMatchObject({ status: 413, code: "HF-6006" });
    expect((await post(good, "application/json; charset=utf-8")).status).toBe(200);
    expect(await post('{"workflow":"unknown"}')).toMatchObject({ status: 404, code: "HF-5001" });
  });

  it("refuses malformed headers", async () => {
    const ask = await stage();
    const act = (headers: Record<string, string>) => ask("POST", "/v1/runs/r/pause", { body: {}, headers });
    for (const match of ["14", 'W/"14"', '"x"', '"1", "2"', ""])
      expect(await act({ "if-match": match }), match).toMatchObject({ status: 400, code: "HF-6010" });
    expect(await act({ "idempotency-key": "x".repeat(201) })).toMatchObject({ status: 400, code: "HF-6010" });
    expect(await act({ "idempotency-key": "x".repeat(200) })).toMatchObject({ status: 404 });
  });

  it("says nothing of what went wrong inside: that is in the log, under the same id", async () => {
    const logged: string[] = [];
    const log = (text: string, fields?: object) => void logged.push(`${text} ${JSON.stringify(fields)}`);
    const logger = { debug: log, info: log, warn: log, error: log };
    const { lab, send } = createApiStage([quick], { app: { logger } });
    lab.store.list = () => Promise.reject(new Error("password=hunter2 at /srv/db"));
    const response = await send("GET", "/v1/runs");
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).not.toMatch(/hunter2|srv|at \w+ \(/);
    const [, id] = /under ([\w-]{36})/.exec(text) ?? [];
    expect(logged.join("\n")).toContain(id);
    expect(logged.join("\n")).toContain("hunter2");
  });
});
