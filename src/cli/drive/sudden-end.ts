import { HoldfastError } from "../../core/errors.ts";
import type { CommandContext } from "../context.ts";
import { oneLine } from "../format.ts";
import { messageOf } from "../modules.ts";

/**
 * Says what becomes of a run whose code ends this process, by an error that nothing catches or by `process.exit`: the
 * exit code would mean something else. Returns a function that ends it.
 */
export function tellSuddenEnd(
  context: CommandContext<unknown>,
  run: string,
  endDisplay: () => void,
): () => void {
  const fix =
    context.unsaved === undefined
      ? context.cli(`resume ${run}`)
      : `Run it again. None of it is saved (${context.unsaved}).`;
  return context.host.onSuddenEnd((end) => {
    endDisplay();
    const told =
      "exit" in end
        ? new HoldfastError("HF-4368", { run, exit: end.exit, fix })
        : new HoldfastError(
            "HF-4367",
            { run, message: oneLine(messageOf(end.error)), fix },
            { cause: end.error },
          );
    return context.out.fail(context.path, told);
  });
}
