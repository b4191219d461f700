import { defineCommand } from "../command.ts";
import { importList, importListText } from "../view/import-list.ts";

/** `holdfast accept <run>`: lets an imported run continue, after its list was seen. */
export const command = defineCommand({
  name: "accept",
  summary: "Review what an imported run would execute, and let it continue",
  args: ["<run>"],
  options: { show: { flag: "--show", summary: "Only show the list" } },
  examples: ["accept recon-88 --show", 'accept recon-88 --reason "from our staging store"'],
  async run(context) {
    const { args, options, out } = context;
    const run = await (await context.addresses()).run(args[0] ?? "");
    const { transfer } = await context.engine();
    const review = await transfer.review(run.id);
    const list = await importList(review);
    const data = { run: run.id, pending: review.pending, ...list };
    const text = importListText(list);
    if (options.show || !review.pending)
      return { data, text: review.pending ? text : `${text}\n✓ it needs no review` };
    out.say(text);
    const act = await context.act("accept");
    await context.confirm("accept", `run ${run.id} may execute what is listed`);
    const row = await transfer.accept(run.id, { ...act, digest: review.digest });
    return {
      data: { ...data, pending: false, status: row.status },
      text: `✓ ${run.id} is accepted by ${act.actor}`,
      next: [`resume ${run.id}`],
    };
  },
});
