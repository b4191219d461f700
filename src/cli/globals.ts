import { HoldfastError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";

/** Options of every command, before or after its name. */
export interface Globals {
  readonly json: boolean;
  /** Selects these fields of the document. */
  readonly fields: readonly string[] | undefined;
  readonly jsonl: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly store: string | undefined;
  readonly config: string | undefined;
  readonly ui: "auto" | "live" | "lines" | "none" | undefined;
  readonly color: boolean | undefined;
  readonly ascii: boolean;
  readonly yes: boolean;
  readonly reason: string | undefined;
  readonly as: string | undefined;
  readonly profile: string | undefined;
  readonly help: boolean;
  readonly version: boolean;
}

type Draft = { -readonly [K in keyof Globals]: Globals[K] };

const UI: readonly string[] = ["auto", "live", "lines", "none"];

const SWITCHES: Readonly<Record<string, (draft: Draft) => void>> = {
  "--json": (draft) => (draft.json = true),
  "--jsonl": (draft) => (draft.jsonl = true),
  "--quiet": (draft) => (draft.quiet = true),
  "-q": (draft) => (draft.quiet = true),
  "--verbose": (draft) => (draft.verbose = true),
  "-v": (draft) => (draft.verbose = true),
  "--color": (draft) => (draft.color = true),
  "--no-color": (draft) => (draft.color = false),
  "--ascii": (draft) => (draft.ascii = true),
  "--yes": (draft) => (draft.yes = true),
  "-y": (draft) => (draft.yes = true),
  "--help": (draft) => (draft.help = true),
  "-h": (draft) => (draft.help = true),
  "--version": (draft) => (draft.version = true),
  "-V": (draft) => (draft.version = true),
};

const VALUES: Readonly<Record<string, (draft: Draft, value: string) => void>> = {
  "--store": (draft, value) => (draft.store = value),
  "--engine": (draft, value) => (draft.store = checkEngine(value)),
  "--config": (draft, value) => (draft.config = value),
  "--ui": (draft, value) => (draft.ui = checkUi(value)),
  "--reason": (draft, value) => (draft.reason = value),
  "--as": (draft, value) => (draft.as = value),
  "--profile": (draft, value) => (draft.profile = value),
};

function checkUi(value: string): Globals["ui"] {
  if (UI.includes(value)) return value as Globals["ui"];
  throw usage(`--ui can't be ${value}`, `It must be one of ${UI.join(", ")}.`, `--ui ${nearest(value, UI)}`);
}

/** A mistake on the command line (exit code 2). */
export const usage = (problem: string, why: string, fix: string): HoldfastError =>
  new HoldfastError("HF-4300", { problem, why, fix });

/** Refuses an `--engine` other than Temporal: the embedded one needs no address, only a store. */
function checkEngine(url: string): string {
  if (/^temporal:/i.test(url)) return url;
  throw usage(
    `--engine can't be ${url}`,
    "It is the address of a Temporal server. Without it, runs are advanced by Holdfast's own engine, on a store.",
    "--engine temporal://127.0.0.1:7233/default, or --store <url>",
  );
}

/** Extracts the global flags from the arguments, wherever they are; none after `--`. */
export function takeGlobals(argv: readonly string[]): { globals: Globals; rest: readonly string[] } {
  const draft: Draft = {
    json: false,
    fields: undefined,
    jsonl: false,
    quiet: false,
    verbose: false,
    store: undefined,
    config: undefined,
    ui: undefined,
    color: undefined,
    ascii: false,
    yes: false,
    reason: undefined,
    as: undefined,
    profile: undefined,
    help: false,
    version: false,
  };
  const rest: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] as string;
    if (word === "--") {
      rest.push(...argv.slice(at));
      break;
    }
    at += take(draft, rest, word, argv[at + 1]);
  }
  return { globals: draft, rest };
}

/** Returns how many additional words it used. */
function take(draft: Draft, rest: string[], word: string, next: string | undefined): 0 | 1 {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  const name = equals < 0 ? word : word.slice(0, equals);
  const attached = equals < 0 ? undefined : word.slice(equals + 1);
  if (name === "--json" && attached !== undefined) {
    draft.json = true;
    draft.fields = attached.split(",").filter((field) => field !== "");
    return 0;
  }
  if (Object.hasOwn(SWITCHES, word)) {
    SWITCHES[word]?.(draft);
    return 0;
  }
  const setValue = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  if (!setValue) {
    rest.push(word);
    return 0;
  }
  const value = attached ?? next;
  if (value === undefined) throw usage(`${name} needs a value`, "Nothing follows it.", `${name} <value>`);
  setValue(draft, value);
  return attached === undefined ? 1 : 0;
}

export const GLOBAL_HELP = `
Options of every command, before or after its name:
  --json[=fields]   print one JSON document    --jsonl           print one line per event
  -q, --quiet       no progress                -v, --verbose     more detail
  --store <url>     where runs are kept        --config <file>   configuration file
  --engine <url>    Temporal's address         --ui <mode>       auto, live, lines, none
  --profile <name>  profile of the file
  --reason <text>   why you do this            --as <actor>      who does it
  -y, --yes         don't ask                  --no-color        --ascii
  -h, --help        help for any command       -V, --version

Exit codes:
  0 done   1 failed for good   2 bad usage   3 invalid workflow or config   4 not found or ambiguous
  5 store unreachable   6 integrity failure   7 owned by another process   8 refused
  75 not finished, resumable   130 Ctrl-C, saved
`;
