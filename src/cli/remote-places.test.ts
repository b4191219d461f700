import { expect, it } from "vitest";
import { cliFolder } from "../../test/support/cli.ts";
import { knownPlaces, rememberPlace } from "./places.ts";

it("an address with a password in it is not written down, and one without it is (S3-09)", () => {
  const { path, remove } = cliFolder();
  const open = "postgres://runs@db.internal/runs";
  for (const one of [open, "postgres://runs:secret@db.internal/runs", `${open}?password=secret`])
    rememberPlace(path, { url: one });
  expect(knownPlaces(path)).toEqual([{ url: open }]);
  remove();
});

it("a remembered server that is away keeps no command from the other stores, which say so (S3-09)", async () => {
  const folder = cliFolder();
  rememberPlace(folder.path, { url: "postgres://runs@127.0.0.1:1/runs" });
  const { code, stdout, stderr } = await folder.run("list");
  expect([code, stdout]).toEqual([0, expect.stringContaining("No runs yet")]);
  expect(stderr).toContain("Runs in postgres://runs@127.0.0.1:1/runs aren't shown");
  folder.remove();
});
