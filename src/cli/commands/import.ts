import { defined } from "../../core/defined.ts";
import type { ImportReport } from "../../core/manage/transfer/transfer.ts";
import { defineCommand } from "../command.ts";
import { plural } from "../format.ts";
import { bundleText } from "../view/bundle-files.ts";
import { verifier } from "../view/bundle-keys.ts";
import { importList, importListText } from "../view/import-list.ts";

/** `holdfast import`: imports what `export` wrote. */
export const command = defineCommand({
  name: "import",
  summary: "Import the runs of a bundle",
  args: ["<file>"],
  options: {
    onConflict: {
      flag: "--on-conflict <what>",
      summary: "What to do with a run that exists already (default refuse)",
      choices: ["refuse", "skip", "update"] as const,
    },
    verify: {
      flag: "--verify <public.pem>",
      summary: "Refuse any bundle not signed for this Ed25519 public key",
    },
    trust: {
      flag: "--trust <public.pem>",
      summary: "Skip the review for bundles signed for this Ed25519 public key",
      list: true,
    },
  },
  examples: ["import recon-88.jsonl", "import - --trust public.pem < bundle.jsonl"],
  async run(context) {
    const { args, options, host } = context;
    const [file = ""] = args;
    const verify = options.verify === undefined ? {} : { verify: verifier(options.verify, host.cwd) };
    const keys = options.trust?.map((key) => verifier(key, host.cwd));
    const trust = keys
      ? { trust: (digest: string, signature: string) => keys.some((key) => key(digest, signature)) }
      : {};
    await context.store({ create: true });
    const { transfer } = await context.engine();
    const conflict = defined({ onConflict: options.onConflict });
    const act = await context.who();
    const how = { ...act, ...conflict, ...verify, ...trust };
    const report = await transfer.importRuns(bundleText(file, host), how);
    const lists = await Promise.all(report.review.map(async (id) => importList(await transfer.review(id))));
    return {
      data: { ...report, lists },
      text: [
        importedText(report),
        ...lists.map(importListText),
        ...reviewText(report, keys !== undefined),
      ].join("\n"),
      next: [
        ...report.review.map((id) => `accept ${id}`),
        ...report.imported.slice(0, 1).map((id) => `show ${id}`),
      ],
    };
  },
});

function importedText({ imported, skipped }: ImportReport): string {
  const here =
    skipped.length === 0
      ? ""
      : `; ${plural(skipped.length, "run")} ${skipped.length === 1 ? "was" : "were"} already here: ${skipped.join(", ")}`;
  const list = imported.length === 0 ? "" : `: ${imported.join(", ")}`;
  return `✓ imported ${plural(imported.length, "run")}${list}${here}`;
}

/** Nothing foreign runs before a person has accepted it. */
function reviewText({ review }: ImportReport, isTrustGiven: boolean): string[] {
  if (review.length === 0) return [];
  const why = isTrustGiven
    ? "The bundle isn't signed with a key that you trust"
    : "The bundle isn't signed, or its key is unknown here";
  return [
    `${why}: none of it runs until you accept it. ${review.map((id) => `holdfast accept ${id}`).join("; ")}`,
  ];
}
