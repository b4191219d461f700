import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { playReadme } from "../scripts/play-readme.mjs";
import { ROOT } from "./source-tree.ts";
import { packed } from "./support/packed.ts";

/** Its lines, without what differs from one time to the next. */
const linesOf = (text: string): string[] =>
  text
    .replace(/[\d.]+m?s after/g, "<time> after")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** What a recorded picture shows: one text element for each line. */
function picture(): string {
  const svg = readFileSync(path.join(ROOT, "docs/img/demo.svg"), "utf8");
  const lines = [...svg.matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, line = ""]) =>
    line
      .replace(/<[^>]+>/g, " ")
      .replace(/ +/g, " ")
      .trim(),
  );
  return lines.slice(1).join("\n");
}

it("the README, played from an empty folder, installs, resumes after kill -9 and takes an answer (C1)", async () => {
  const said: string[] = [];
  const tarball = await packed();
  const { toFirstResume, typed, demo, ms } = await playReadme({ tarball, say: (line) => said.push(line) });
  console.log(`${said.join("\n")}\nThe README was played in ${(ms / 1_000).toFixed(1)} s.`);
  expect(toFirstResume).toBeLessThanOrEqual(3);
  expect(typed.map(({ command }) => command)).toContain("npx holdfast resume first");
  // The picture in the README was recorded from this demo (node scripts/record-demo.mjs draws it anew).
  expect(linesOf(picture())).toEqual(linesOf(demo).map((line) => line.replace(/ +/g, " ")));
});
