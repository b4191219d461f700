import { keepRecent } from "../core/recent.ts";

/**
 * Regular expressions whose time grows with the length of the text and no faster, for patterns from files and servers
 * that nobody has examined. All ways to match are followed side by side, so nothing is tried twice at one place. What
 * can't be done that way is refused: looking behind, referring back, and more than {@link MOST_STATES} states.
 */
export interface LinearPattern {
  /** True when the pattern matches anywhere in the text. `spend` is told the work, and may throw. */
  test(text: string, spend?: (work: number) => void): boolean;
}

const MOST_STATES = 4_000;
const MOST_KNOWN = 200;
const known = new Map<string, LinearPattern | undefined>();

/** The pattern; `undefined` when it is no regular expression, or can't be matched in linear time. */
export function linearPattern(source: string): LinearPattern | undefined {
  if (!known.has(source)) keepRecent(known, source, compiled(source), MOST_KNOWN);
  return known.get(source);
}

function compiled(source: string): LinearPattern | undefined {
  const flags = flagsOf(source);
  if (flags === undefined) return undefined;
  try {
    const program = assemble(new Parser(source, flags).whole());
    return {
      test: (text, spend = () => undefined) => new Search(program, Array.from(text), spend).anywhere(),
    };
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

/** Patterns should be valid with the Unicode flag, but many in use aren't. */
function flagsOf(source: string): string | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags).flags;
    } catch {
      // Try the next flag.
    }
  }
  return undefined;
}

class Unsupported extends Error {}

/** One place in a text: true when the assertion holds there. */
type Assertion = (points: readonly string[], at: number) => boolean;
type OnePoint = (point: string) => boolean;

type Node =
  | { readonly is: "point"; readonly fits: OnePoint }
  | { readonly is: "assertion"; readonly holds: Assertion }
  | { readonly is: "ahead"; readonly node: Node; readonly isNot: boolean }
  | { readonly is: "sequence" | "choice"; readonly nodes: readonly Node[] }
  | { readonly is: "repeat"; readonly node: Node; readonly least: number; readonly most: number };

const isWord = (point: string | undefined): boolean => point !== undefined && /^\w$/.test(point);
const isEdge: Assertion = (points, at) => isWord(points[at - 1]) !== isWord(points[at]);

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  "^": (_, at) => at === 0,
  $: (points, at) => at === points.length,
  "\\b": isEdge,
  "\\B": (points, at) => !isEdge(points, at),
};

const ESCAPE =
  /\\(?:u\{[^}]*\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|c[A-Za-z]|[\s\S])/y;
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]/y;
const REPEAT = /(?:\*|\+|\?|\{(\d+)(?:(,)(\d*))?\})\??/y;
const GROUP = /\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/y;

/** Reads an expression that is known to be valid. */
class Parser {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  whole(): Node {
    return this.#choice();
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #choice(): Node {
    const nodes = [this.#sequence()];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      nodes.push(this.#sequence());
    }
    return { is: "choice", nodes };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at] ?? ""))
      nodes.push(this.#repeated(this.#atom()));
    return { is: "sequence", nodes };
  }

  #repeated(node: Node): Node {
    const found = this.#take(REPEAT);
    if (!found) return node;
    const [text, from, comma, to] = found;
    if (text.startsWith("*")) return { is: "repeat", node, least: 0, most: Infinity };
    if (text.startsWith("+")) return { is: "repeat", node, least: 1, most: Infinity };
    if (text.startsWith("?")) return { is: "repeat", node, least: 0, most: 1 };
    const least = Number(from);
    const most = comma === undefined ? least : to ? Number(to) : Infinity;
    return { is: "repeat", node, least, most };
  }

  #atom(): Node {
    if (this.#source[this.#at] === "(") return this.#group();
    const start = this.#at;
    const token =
      this.#take(ESCAPE)?.[0] ??
      this.#take(CLASS)?.[0] ??
      String.fromCodePoint(this.#source.codePointAt(start) ?? 0);
    if (this.#at === start) this.#at += token.length;
    if (Object.hasOwn(ASSERTIONS, token)) return { is: "assertion", holds: ASSERTIONS[token] as Assertion };
    if (/^\\[1-9k]/.test(token)) throw new Unsupported();
    return { is: "point", fits: pointOf(token, this.#flags) };
  }

  #group(): Node {
    const [open = ""] = this.#take(GROUP) ?? [];
    if (/^\(\?<[=!]/.test(open)) throw new Unsupported();
    const node = this.#choice();
    this.#at++;
    if (open === "(?=" || open === "(?!") return { is: "ahead", node, isNot: open === "(?!" };
    return node;
  }
}

/** One character, as the expression means it. Asked once for each different character. */
function pointOf(token: string, flags: string): OnePoint {
  const pattern = new RegExp(`^(?:${token})$`, flags);
  const answers = new Map<string, boolean>();
  return (point) => {
    let answer = answers.get(point);
    if (answer === undefined) answers.set(point, (answer = pattern.test(point)));
    return answer;
  };
}

type State =
  | { readonly is: "point"; readonly fits: OnePoint }
  | { readonly is: "assertion"; readonly holds: Assertion }
  | { readonly is: "ahead"; readonly program: Program; readonly isNot: boolean }
  /** Continues at each of these, and not with the next state. */
  | { readonly is: "ways"; readonly to: number[] }
  | { readonly is: "match" };
type Program = readonly State[];

function assemble(node: Node): Program {
  const states: State[] = [];
  add(states, node);
  return [...states, { is: "match" }];
}

function add(states: State[], node: Node): void {
  if (states.length > MOST_STATES) throw new Unsupported();
  switch (node.is) {
    case "sequence":
      for (const one of node.nodes) add(states, one);
      return;
    case "choice":
      return addChoice(states, node.nodes);
    case "repeat":
      return addRepeat(states, node);
    case "ahead":
      states.push({ is: "ahead", program: assemble(node.node), isNot: node.isNot });
      return;
    default:
      states.push(node);
  }
}

function addChoice(states: State[], nodes: readonly Node[]): void {
  const ways: State & { is: "ways" } = { is: "ways", to: [] };
  states.push(ways);
  const ends = nodes.map((one) => {
    ways.to.push(states.length);
    add(states, one);
    const end: State & { is: "ways" } = { is: "ways", to: [] };
    states.push(end);
    return end;
  });
  for (const end of ends) end.to.push(states.length);
}

function addRepeat(states: State[], { node, least, most }: Node & { is: "repeat" }): void {
  for (let n = 0; n < least; n++) add(states, node);
  if (most === Infinity) {
    const loop: State & { is: "ways" } = { is: "ways", to: [states.length + 1] };
    const back = states.length;
    states.push(loop);
    add(states, node);
    states.push({ is: "ways", to: [back] });
    loop.to.push(states.length);
    return;
  }
  const exits: (State & { is: "ways" })[] = [];
  for (let n = least; n < most; n++) {
    const maybe: State & { is: "ways" } = { is: "ways", to: [states.length + 1] };
    exits.push(maybe);
    states.push(maybe);
    add(states, node);
  }
  for (const exit of exits) exit.to.push(states.length);
}

/** Follows a program through one text. */
class Search {
  readonly #program: Program;
  readonly #points: readonly string[];
  readonly #spend: (work: number) => void;

  constructor(program: Program, points: readonly string[], spend: (work: number) => void) {
    this.#program = program;
    this.#points = points;
    this.#spend = spend;
  }

  anywhere(): boolean {
    return this.#run(0, true);
  }

  /** True when it matches from this place on. */
  from(at: number): boolean {
    return this.#run(at, false);
  }

  #run(start: number, isAnywhere: boolean): boolean {
    let now = new Set<number>();
    for (let at = start; at <= this.#points.length; at++) {
      if (at === start || isAnywhere) this.#reach(now, 0, at);
      if (now.has(this.#program.length - 1)) return true;
      if (now.size === 0 && !isAnywhere) return false;
      this.#spend(1 + now.size);
      const point = this.#points[at];
      if (point === undefined) return false;
      const next = new Set<number>();
      for (const index of now) {
        const state = this.#program[index];
        if (state?.is === "point" && state.fits(point)) this.#reach(next, index + 1, at + 1);
      }
      now = next;
    }
    return false;
  }

  /** Adds the states that are reached from one without reading anything. */
  #reach(reached: Set<number>, first: number, at: number): void {
    const open = [first];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (reached.has(index)) continue;
      reached.add(index);
      const state = this.#program[index];
      if (state?.is === "ways") open.push(...state.to);
      else if (state?.is === "assertion" && state.holds(this.#points, at)) open.push(index + 1);
      else if (state?.is === "ahead" && this.#looks(state, at)) open.push(index + 1);
    }
  }

  #looks({ program, isNot }: State & { is: "ahead" }, at: number): boolean {
    return new Search(program, this.#points, this.#spend).from(at) !== isNot;
  }
}
