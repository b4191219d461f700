/** Text beyond this length isn't examined; limit it with `sizeCheck`. */
const MOST_CHARS = 1_000_000;
const MOST_DEPTH = 40;

/** Every text in a value, including keys. Long texts are split into parts. */
export function textsOf(value: unknown): string[] {
  const texts: string[] = [];
  const seen = new Set<object>();
  let left = MOST_CHARS;
  const visit = (one: unknown, depth: number): void => {
    if (left <= 0 || depth > MOST_DEPTH) return;
    if (typeof one === "string") {
      if (one.length > 0) texts.push(one.slice(0, left));
      left -= one.length;
      return;
    }
    if (typeof one !== "object" || one === null || ArrayBuffer.isView(one) || seen.has(one)) return;
    seen.add(one);
    for (const [key, inner] of partsOf(one)) {
      visit(key, depth + 1);
      visit(inner, depth + 1);
    }
  };
  visit(value, 0);
  return texts;
}

function partsOf(value: object): Iterable<readonly [unknown, unknown]> {
  if (value instanceof Map) return value;
  if (value instanceof Set || Array.isArray(value)) return [...value].map((one) => [undefined, one] as const);
  const parts: (readonly [unknown, unknown])[] = Object.entries(value);
  if (value instanceof Error) parts.push([undefined, value.message], [undefined, value.cause]);
  return parts;
}

/**
 * Variants of a text: as written, without invisible characters, with look-alike letters replaced, decoded, and
 * reversed. All are in lower case.
 */
export function readings(text: string): string[] {
  const shown = visible(text);
  const found = new Set([shown]);
  if (/[a-z]/.test(shown) && /[\u0370-\u04ff]/.test(shown))
    found.add(shown.replace(/[\u0370-\u04ff]/g, latin));
  if (/[a-z][013457]|[013457][a-z]/.test(shown))
    found.add(shown.replace(/[013457]/g, (digit) => LEET[digit] ?? digit));
  if (/%[0-9a-f]{2}/.test(shown))
    found.add(shown.replace(/%([0-7][0-9a-f])/g, (_, hex: string) => char(hex, 16)));
  if (shown.includes("&#")) found.add(shown.replace(/&#(\d{2,3});/g, (_, code: string) => char(code, 10)));
  if (/backward|reverse/.test(shown)) found.add(shown.split("").reverse().join(""));
  if (shown.includes("rot13")) found.add(shown.replace(/[a-z]/g, rot13));
  if (/(?:\b\w[ .-]){6}/.test(shown)) for (const apart of APART) found.add(shown.replace(apart, "$1"));
  for (const [run] of text.matchAll(/[A-Za-z0-9+/]{24,4096}={0,2}/g)) {
    const decoded = unpacked(run);
    if (decoded !== undefined) found.add(visible(decoded));
  }
  return [...found];
}

const TAGS = /[\u{e0020}-\u{e007e}]/gu;
/** Invisible characters: joiners, direction marks, soft hyphens. */
const UNSEEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;

const visible = (text: string): string =>
  text
    .replace(TAGS, (tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000))
    .replace(UNSEEN, "")
    .normalize("NFKC")
    .toLowerCase();

const LOOK_ALIKE = new Map(
  Object.entries({
    а: "a",
    е: "e",
    о: "o",
    р: "p",
    с: "c",
    х: "x",
    у: "y",
    і: "i",
    ѕ: "s",
    ј: "j",
    ո: "n",
    ο: "o",
    α: "a",
    ι: "i",
    ν: "v",
    ρ: "p",
    τ: "t",
    υ: "u",
    к: "k",
    м: "m",
    т: "t",
    в: "b",
    н: "h",
  }),
);
const latin = (letter: string): string => LOOK_ALIKE.get(letter) ?? letter;

const LEET: Readonly<Record<string, string>> = { 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t" };

const char = (code: string, base: number): string =>
  String.fromCharCode(Number.parseInt(code, base)).toLowerCase();

const rot13 = (letter: string): string => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97);

/** Joins spaced-out letters into words when a wider or different gap separates the words. */
const APART: readonly RegExp[] = [/\b(\w) (?=\w\b)/g, /\b(\w)[.-](?=\w\b)/g];

/** The text encoded by a run of base64, if it is text. */
function unpacked(run: string): string | undefined {
  const bytes = Buffer.from(run, "base64");
  const text = bytes.toString("utf8");
  const isText = text.length > 8 && /^[\p{L}\p{N}\p{P}\p{Zs}\n\r\t$+<=>|]*$/u.test(text);
  return isText ? text : undefined;
}
