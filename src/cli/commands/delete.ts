import { ended } from "../../core/types.ts";
import { defineCommand } from "../command.ts";
import { plural } from "../format.ts";

/** `holdfast delete <run>`: nothing of it is left but, unless told otherwise, a line that says so. */
export const command = defineCommand({
  name: "delete",
  summary: "Delete an ended run, its children and everything stored about them",
  args: ["<run>"],
  options: {
    force: { flag: "--force", summary: "Cancel the run first if it hasn't ended" },
    tombstone: { flag: "--no-tombstone", summary: "Leave no record of the deletion" },
  },
  examples: ['delete aapl --yes --reason "asked for by the customer"', "delete stuck-7 --force"],
  async run(context) {
    const { force, tombstone } = context.options;
    const act = await context.act("delete");
    const row = await (await context.addresses()).run(context.args[0] ?? "");
    const what = `run ${row.id} of ${row.workflow}, which is ${row.status}, with its journal and all values`;
    if (ended(row.status) || force) await context.confirm("delete", what);
    const engine = await context.engine();
    const { deleted } = await engine.delete(row.id, { ...act, force, tombstone });
    const below = deleted.length > 1 ? ` and ${plural(deleted.length - 1, "run")} below it` : "";
    return { data: { run: row.id, deleted }, text: `✓ deleted ${row.id}${below}; its id is free again` };
  },
});
