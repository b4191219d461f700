import type { Context, StepCall, Workflow } from "../../src/core/context.ts";
import type { Migration } from "../../src/core/migration.ts";
import { workflow } from "../../src/core/workflow.ts";
import type { Machine } from "./machine.ts";
import { deedOf, nameIn, type ProgramVersion } from "./names.ts";
import { type Outside, valueOf } from "./outside.ts";
import type { ProgramInput, Section } from "./sections.ts";

/** Ways in which a program can break the rules, to prove that the checks notice. */
export type Breakage = "calls-outside-steps" | "outcome-before-call" | "undeclared-effects";

type Of<K extends Section["kind"]> = Extract<Section, { kind: K }>;

const QUICK = { baseMs: 100, factor: 2, maxMs: 1_000 } as const;
const CALL_MS = 60;
const SLOW_MS = 700;

export interface ProgramOptions {
  readonly version: ProgramVersion;
  readonly migrations: readonly Migration[];
  readonly breakage?: Breakage | undefined;
}

/** The workflow that executes sections, as deployed on one machine. */
export function createProgram(
  outside: Outside,
  machine: Machine,
  { version, migrations, breakage }: ProgramOptions,
): Workflow<ProgramInput, unknown[]> {
  const program: Workflow<ProgramInput, unknown[]> = workflow(
    "simulated",
    { version, migrations },
    async (ctx, { body }: ProgramInput) =>
      new Interpreter(ctx, { outside, machine, program, version, breakage }).run(body, ""),
  );
  return program;
}

interface Surroundings {
  readonly outside: Outside;
  readonly machine: Machine;
  readonly program: Workflow<ProgramInput, unknown[]>;
  readonly version: ProgramVersion;
  readonly breakage: Breakage | undefined;
}

class Interpreter {
  readonly #ctx: Context;
  readonly #outside: Outside;
  readonly #machine: Machine;
  readonly #program: Workflow<ProgramInput, unknown[]>;
  readonly #version: ProgramVersion;
  readonly #breakage: Breakage | undefined;

  constructor(ctx: Context, { outside, machine, program, version, breakage }: Surroundings) {
    this.#ctx = ctx;
    this.#outside = outside;
    this.#machine = machine;
    this.#program = program;
    this.#version = version;
    this.#breakage = breakage;
  }

  /** This version's name for a section. */
  #name({ id }: { readonly id: string }): string {
    return nameIn(this.#version, id);
  }

  /** `prefix` is the scope of the sections, as it appears in step keys. */
  async run(body: readonly Section[], prefix: string): Promise<unknown[]> {
    const results: unknown[] = [];
    for (const section of body) results.push(await this.#section(section, prefix));
    return results;
  }

  async #section(section: Section, prefix: string): Promise<unknown> {
    switch (section.kind) {
      case "call":
        return this.#call(section);
      case "book":
        return this.#book(section);
      case "stumble":
        return this.#ctx.step(this.#name(section), (call) => this.#receive(call, "repeatable", [1]), {
          retry: false,
        });
      case "memory":
        return this.#memory(section);
      case "notes":
        return this.#notes(section, prefix);
      case "sleep":
        await this.#ctx.sleep(this.#name(section), section.ms);
        return section.id;
      case "gate": {
        const answer = await this.#ctx.gate(this.#name(section), {
          show: section.id,
          choices: ["yes", "no"],
        });
        this.#observe(`the answer at gate ${prefix}${section.id}`, answer);
        return section.id;
      }
      case "signal":
        await this.#ctx.signal("go");
        await this.#hear(`${prefix}${section.id}`);
        return section.id;
      case "transaction":
        return this.#transaction(section, prefix);
      case "child":
        return this.#ctx.child(this.#name(section), this.#program, { body: section.body, pad: "" });
      default:
        return this.#group(section, prefix);
    }
  }

  async #group(section: Of<"each" | "all" | "nest" | "loop">, prefix: string): Promise<unknown> {
    const ctx = this.#ctx;
    const name = this.#name(section);
    switch (section.kind) {
      case "each": {
        const items = Array.from({ length: section.count }, (_, index) => index);
        return ctx.each(
          name,
          items,
          async (index) => this.#section(section.item, `${prefix}${name}[${index}]/`),
          { concurrency: section.concurrency },
        );
      }
      case "all":
        return ctx.all(
          name,
          section.branches.map((branch, index) => () => this.run(branch, `${prefix}${name}[${index}]/`)),
        );
      case "nest":
        return ctx.step(
          name,
          async ({ attempt }) => {
            const results = await this.run(section.body, `${prefix}${name}/`);
            if (section.bad.includes(attempt)) throw new Error(`planned failure of ${section.id}`);
            return results;
          },
          { retry: { attempts: 4, ...QUICK } },
        );
      case "loop":
        return this.#loop(section, prefix);
    }
  }

  async #loop(section: Of<"loop">, prefix: string): Promise<unknown> {
    const { turns, pad, body } = section;
    const id = this.#name(section);
    const start = { turns: 0, log: [] as unknown[], pads: [] as string[] };
    const state = await this.#ctx.loop(id, start, async (draft, turn) => {
      draft.log.push(await this.run(body, `${prefix}${id}[${turn.index}]/`));
      for (let left = pad; left > 0; left -= 800) draft.pads.push("#".repeat(Math.min(left, 800)));
      draft.turns++;
      return turn.index + 1 === turns ? turn.done() : undefined;
    });
    return { turns: state.turns, log: state.log, pads: state.pads.join("").length };
  }

  #receive(
    call: StepCall,
    effect: Of<"call">["effect"],
    bad: readonly number[],
    ms = CALL_MS,
  ): Promise<string> {
    return this.#outside.receive(this.#machine, call, { effect, args: deedOf(call.step), bad, ms });
  }

  async #call(section: Of<"call">): Promise<unknown> {
    const { id, effect, bad, slow } = section;
    const name = this.#name(section);
    if (this.#breakage === "calls-outside-steps") await this.#fake(id, effect);
    const options = {
      effect: this.#breakage === "undeclared-effects" ? "repeatable" : effect,
      input: { id },
      ...(slow
        ? { timeoutMs: SLOW_MS, retry: { attempts: effect === "once" ? 1 : 20, ...QUICK } }
        : { retry: { attempts: effect === "once" ? 1 : 4, ...QUICK } }),
    };
    const work = (call: StepCall) => this.#receive(call, effect, bad, slow ? SLOW_MS : CALL_MS);
    try {
      if (this.#breakage !== "outcome-before-call") return await this.#ctx.step(name, work, options);
      let made: StepCall | undefined;
      const value = await this.#ctx.step(name, (call) => ((made = call), valueOf(id)), options);
      // By now the outcome is durable, so a crash here loses the call.
      await this.#machine.pause(CALL_MS);
      if (made) await this.#receive(made, effect, []);
      return value;
    } catch (error) {
      // A person decided that a call in doubt didn't happen: the program continues without it.
      if (effect === "once" && (error as Error).message.includes("by hand")) return valueOf(id);
      throw error;
    }
  }

  #fake(step: string, effect: Of<"call">["effect"]): Promise<string> {
    const call = {
      runId: this.#ctx.runId,
      step: `outside-${step}`,
      attempt: 1,
      epoch: 1,
      key: step,
      signal: this.#ctx.abortSignal,
    };
    return this.#receive(call, effect, []);
  }

  /** Reads messages sent to the run; they change nothing. */
  async #hear(where: string): Promise<void> {
    const heard = await this.#ctx.inbox();
    const said = heard.map(({ payload }) => payload);
    await this.#saved();
    this.#observe(`what was heard at ${where}`, said);
  }

  /** After a crash the program may see other values, as long as none was saved. */
  async #saved(): Promise<void> {
    await this.#ctx.checkpoint("seen");
  }

  #observe(what: string, value: unknown): void {
    this.#outside.observe(this.#ctx.runId, deedOf(what), value);
  }

  #book({ id }: { readonly id: string }): Promise<string> {
    return this.#ctx.step(this.#name({ id }), (call) => this.#receive(call, "keyed", []), {
      effect: "keyed",
      input: { id },
      compensate: (_value, call) => this.#receive(call, "keyed", []),
    });
  }

  #memory({ id, key, size }: Of<"memory">): unknown {
    const { memory } = this.#ctx;
    memory.set(key, id.padEnd(size, "."));
    return memory.get(key);
  }

  async #notes({ id }: { readonly id: string }, prefix: string): Promise<string> {
    const ctx = this.#ctx;
    ctx.now();
    ctx.usage({ tokens: 3, costUsd: 0.25 });
    ctx.decide({ description: id, confidence: 0.5 });
    const chance = [ctx.random(id), ctx.uuid(id)];
    await this.#saved();
    this.#observe(`chance at ${prefix}${id}`, chance);
    return id;
  }

  #transaction({ id }: { readonly id: string }, prefix: string): Promise<string> {
    const { runId } = this.#ctx;
    const name = this.#name({ id });
    return this.#ctx.transaction(name, (sql) => {
      sql.run("INSERT INTO effects (run, step) VALUES (?, ?)", runId, prefix + name);
      return valueOf(id);
    });
  }
}
