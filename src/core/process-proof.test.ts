import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { systemIds } from "./ids.ts";
import { markOf, systemProcesses, thisProcess } from "./process-proof.ts";

const tokenOf = (mark: string): string => `${systemIds.token()}.${mark}`;

function startOf(pid: number): string {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

const isLinux = process.platform === "linux";

describe("the process that holds a claim", () => {
  it("is not gone while it is this one", () => {
    expect(systemProcesses.isGone(tokenOf(systemProcesses.mark))).toBe(false);
  });

  it.runIf(isLinux)("is alive until it was killed, and gone from then on", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    await once(child, "spawn");
    const pid = child.pid as number;
    const token = tokenOf(markOf(pid, startOf(pid)));
    expect(systemProcesses.isGone(token)).toBe(false);
    child.kill("SIGSTOP");
    expect(systemProcesses.isGone(token)).toBe(false);
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    expect(systemProcesses.isGone(token)).toBe(true);
  });

  it.runIf(isLinux)("is gone when another process has its pid now", () => {
    expect(systemProcesses.isGone(tokenOf(markOf(process.pid, "1")))).toBe(true);
  });

  it("is never said to be gone when it is on another machine, in another container or of another boot", () => {
    const [, started, place, booted] = markOf(999_999_999, "1").split(".");
    const elsewhere = ["999999999", started, `x${place}`, booted].join(".");
    expect(systemProcesses.isGone(tokenOf(elsewhere))).toBe(false);
    const earlier = ["999999999", started, place, String(Number(booted) - 100_000)].join(".");
    expect(systemProcesses.isGone(tokenOf(earlier))).toBe(false);
  });

  it("is never said to be gone when the token says nothing about it", () => {
    for (const token of ["", "abc", "abc.", "abc...", "abc.1", "abc.x.y.z.0"])
      expect([token, systemProcesses.isGone(token)]).toEqual([token, false]);
  });

  it("has the mark of its own pid and start time", () => {
    const { pid, started } = thisProcess();
    expect(systemProcesses.mark).toBe(markOf(pid, started ?? ""));
  });
});
