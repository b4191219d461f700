import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "./source-tree.ts";

const read = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  readonly dependencies: Record<string, string>;
  readonly scripts: Record<string, string>;
};

describe("a release (X13)", () => {
  it("lists every runtime dependency in its bill of materials, and no development tool", {
    timeout: 60_000,
  }, () => {
    const sbom = execFileSync("npm", ["run", "--silent", "sbom"], { cwd: ROOT, encoding: "utf8" });
    const { bomFormat, components } = JSON.parse(sbom) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly name: string }[];
    };
    const names = components.map(({ name }) => name);
    expect(bomFormat).toBe("CycloneDX");
    expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
    expect(names).not.toContain("vitest");
  });

  it("is published with provenance by a job that may do nothing else, after the tests", () => {
    const { permissions, jobs } = parse(read(".github/workflows/release.yml")) as {
      readonly permissions: Record<string, string>;
      readonly jobs: Record<
        string,
        { needs?: string; permissions?: Record<string, string>; steps: { run?: string }[] }
      >;
    };
    expect(permissions).toEqual({ contents: "read" });
    expect(jobs["publish"]).toMatchObject({ needs: "test", permissions: { "id-token": "write" } });
    const commands = jobs["publish"]?.steps.map(({ run }) => run ?? "").join("\n");
    expect(commands).toContain("npm publish --provenance");
    expect(commands).toContain("npm run --silent sbom");
  });

  it("has a create-holdfast of the same version, which needs this version of the package", () => {
    const { version } = JSON.parse(read("package.json")) as { readonly version: string };
    expect(JSON.parse(read("create-holdfast/package.json"))).toMatchObject({
      version,
      dependencies: { holdfast: `^${version}` },
    });
    expect(read(".github/workflows/release.yml")).toContain("npm publish ./create-holdfast --provenance");
  });

  it("runs no scripts when it is installed", () => {
    expect(Object.keys(manifest.scripts)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(pre|post)?install$|^prepare$/)]),
    );
  });

  it("says how to report a vulnerability", () => {
    expect(read("SECURITY.md")).toContain("Report a vulnerability");
  });
});
