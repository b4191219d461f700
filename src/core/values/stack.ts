/** Reads the stack of an error: where in the user's code it was thrown. Files are told apart by their path alone. */

export interface Place {
  readonly file: string;
  /** Missing where a loader has changed the code without a source map. */
  readonly line: number | undefined;
  /** Missing above a syntax error. */
  readonly column: number | undefined;
}

/** `at work (file:///p/flow.ts:12:5)`, `at async file:///p/flow.ts?tsx-namespace=1:12:5`. */
const FRAME = /^\s*at (?:.*\()?(?:async )?(.+?):(\d+):(\d+)\)?$/;
/** `/p/flow.ts:3`, the line above a syntax error. */
const ABOVE = /^((?:file:|\/|[A-Za-z]:[\\/]).+?):(\d+)$/;
/** `at work (/p/flow.ts)`. */
const NO_LINE = /^\s*at .*\(((?:\/|[A-Za-z]:\/).+)\)$/;
/** tsx runs a CommonJS file on Node 20 as a data URL that contains all of its code, on one line. */
const DATA_URL = /\(?data:text\/javascript,.*[?&]filePath=([^:&?)]+)(?::\d+)*\)?$/;
const IS_FRAME = /^\s+at /;
const NOT_THEIRS = /^node:|\/node_modules\/|^native$|^<anonymous>$/;
const MOST_LINES = 10;
const MOST_FRAMES = 10;
const MOST_OWN = 5;
const MOST_CAUSES = 20;

function frameOf(line: string): Place | undefined {
  const [, written, at, column] = FRAME.exec(line) ?? [];
  const [, above, aboveAt] = written === undefined ? (ABOVE.exec(line) ?? NO_LINE.exec(line) ?? []) : [];
  const file = pathOf(written ?? above ?? "");
  return file === undefined ? undefined : { file, line: numberIn(at ?? aboveAt), column: numberIn(column) };
}

const numberIn = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

/** Shows the file instead of a data URL. */
const tidy = (line: string): string =>
  line.replace(DATA_URL, (_, file: string) => `(${decodeURIComponent(file).replace(/\?.*$/, "")})`);

/** The path of a file URL, with slashes and without a query. */
function pathOf(written: string): string | undefined {
  const path = written.replace(/\?.*$/, "").replaceAll("\\", "/");
  if (path.startsWith("node:")) return path;
  if (!path.includes("/")) return undefined;
  if (!path.startsWith("file:")) return path;
  try {
    return decodeURIComponent(path.replace(/^file:\/\/(?:\/(?=[A-Za-z]:))?/, ""));
  } catch {
    return undefined;
  }
}

/** The folder of this package's code: `…/src/`, or `…/dist/` when built. Unknown when it was bundled into a program. */
const OWN = /^(.+\/)(?:core\/values\/stack\.ts|parts\/[\w-]+\.js)$/.exec(
  frameOf(String(new Error("here").stack).split("\n")[1] ?? "")?.file ?? "",
)?.[1];

const isOwn = (file: string): boolean =>
  OWN !== undefined && file.startsWith(OWN) && !/\.test\.[jt]s$/.test(file);

const isTheirs = (file: string): boolean => !isOwn(file) && !NOT_THEIRS.test(file);

/** The first place of user code in a stack. */
function placeInStack(stack: string): Place | undefined {
  for (const line of stack.split("\n")) {
    const place = frameOf(tidy(line));
    if (place && isTheirs(place.file)) return place;
  }
  return undefined;
}

const stackOf = (error: unknown): string => {
  try {
    const stack: unknown = error instanceof Error ? error.stack : undefined;
    return typeof stack === "string" ? stack : "";
  } catch {
    return "";
  }
};

/** The error and its causes, outermost first. */
export function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (
    let one = error;
    one instanceof Error && chain.length < MOST_CAUSES && !chain.includes(one);
    one = one.cause
  )
    chain.push(one);
  return chain;
}

/** Where in the user's code an error was thrown: taken from its innermost cause that has a place. */
export function placeOf(error: unknown): Place | undefined {
  let place: Place | undefined;
  for (const one of causesOf(error)) place = placeInStack(stackOf(one)) ?? place;
  return place;
}

/** The place as text: `flow.ts:12:5`. */
export const placeText = ({ file, line, column }: Place): string =>
  [file, line, column].filter((part) => part !== undefined).join(":");

/**
 * A stack for the journal: its first lines and frames. The engine's frames stay only where they come first, for the
 * engine's own errors.
 */
export function shortStack(stack: string): string {
  const { head, frames } = parts(stack);
  const user = frames.findIndex(isUserFrame);
  const own = frames.slice(0, Math.max(user, 0) || (user < 0 ? frames.length : 0));
  const rest = user < 0 ? [] : frames.slice(user).filter((line) => !isEngineFrame(line));
  return [...head, ...own.slice(0, MOST_OWN), ...rest.slice(0, MOST_FRAMES)].join("\n");
}

/** A stack for people: without the frames of the engine and of Node, unless there are no others. */
export function userStack(stack: string): string {
  const { head, frames } = parts(stack);
  const kept = frames.filter((line) => !isEngineFrame(line));
  return [...head, ...(kept.length > 0 ? kept : frames)].join("\n");
}

function parts(stack: string): { readonly head: readonly string[]; readonly frames: readonly string[] } {
  const lines = stack.split("\n");
  const first = lines.findIndex((line) => IS_FRAME.test(line));
  if (first < 0) return { head: lines.slice(0, MOST_LINES), frames: [] };
  return {
    head: lines.slice(0, Math.min(first, MOST_LINES)),
    frames: lines
      .slice(first)
      .filter((line) => IS_FRAME.test(line))
      .map(tidy),
  };
}

const isUserFrame = (line: string): boolean => isTheirs(frameOf(line)?.file ?? "node:");

/** True for frames that tell a user nothing: ours, wherever the package was installed, and Node's. */
const isEngineFrame = (line: string): boolean => {
  const file = frameOf(line)?.file ?? "";
  return isOwn(file) || /^node:|\/node_modules\/holdfast\/dist\//.test(file);
};

/** The place in user code that called a verb of `ctx`, or awaits it. Its text is made only if somebody reads it. */
export interface CallSite {
  readonly stack?: string;
}

const SITE_FRAMES = 8;

/** Enough to get from the engine, through an agent or a graph, to the user's code. */
const AWAITING_FRAMES = 30;

const IS_FIXED = Object.getOwnPropertyDescriptor(Error, "stackTraceLimit")?.writable === false;

/** Remembers the calling code. */
export const callSite = (): CallSite => capture({}, SITE_FRAMES, callSite);

/** Remembers the code that awaits what the current reaction decides. */
export const awaitingSite = (site: CallSite): CallSite => capture(site, AWAITING_FRAMES, awaitingSite);

function capture(site: CallSite, frames: number, above: (...given: never[]) => unknown): CallSite {
  // In a sandbox the limit can't be set, and there is no code of the user's to point at.
  if (IS_FIXED) return site;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = frames;
  Error.captureStackTrace?.(site, above);
  Error.stackTraceLimit = limit;
  return site;
}

/** True for an error that doesn't tell where in the user's code it comes from. */
export const isPlaceless = (error: unknown): boolean =>
  error instanceof Error && placeOf(error) === undefined;

/** Adds the calling code to an error that has no place of its own, as Node does for awaited functions. */
export function addSite(error: unknown, site: CallSite | undefined): void {
  if (!(error instanceof Error) || site === undefined || !isPlaceless(error)) return;
  const frames = parts(site.stack ?? "").frames.filter((line) => !isEngineFrame(line));
  if (!frames.some(isUserFrame)) return;
  try {
    error.stack = [stackOf(error), ...frames].join("\n");
  } catch {
    // A frozen error keeps the stack it has.
  }
}
