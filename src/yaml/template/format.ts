/** Python's two ways to format: `"%s" % value` and `"{}".format(value)`. */
import {
  amount,
  type Float,
  fixed,
  floatText,
  isFloat,
  isInteger,
  isNumber,
  scaledHalfEven,
} from "./numbers.ts";
import { TemplateProblem, tooLarge } from "./problem.ts";
import { repr } from "./python-text.ts";
import {
  isMapping,
  isText,
  lengthOf,
  listKind,
  lookUp,
  type Named,
  nameOfKind,
  plainText,
  text,
} from "./value.ts";

interface Spec {
  readonly fill: string;
  /** `<`, `>`, `^`, `=`, or the default for the kind of value. */
  readonly align: string;
  readonly sign: string;
  readonly isAlternate: boolean;
  readonly width: number;
  readonly grouping: string;
  readonly precision: number | undefined;
  readonly kind: string;
}

const MOST_WIDTH = 10_000;
const PERCENT = /%(?:\(([^)]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?(.?)/gs;

export function percentFormat(template: string, given: unknown, most: number): string {
  const isTuple = Array.isArray(given) && listKind(given) === "tuple";
  const values: readonly unknown[] = isTuple ? given : [given];
  let used = 0;
  let byName = false;
  const next = (): unknown => {
    if (used >= values.length) throw new TemplateProblem("there are too few values for the format");
    used += 1;
    return values[used - 1];
  };
  const result = template.replace(PERCENT, (...parts) => {
    const [, key, flags = "", width, , kind = ""] = parts as (string | undefined)[];
    const precision = /\.(\*|\d*)/.exec((parts[0] as string).replace(/^%\([^)]*\)/, ""))?.[1];
    if (kind === "%" && key === undefined) return "%";
    if (width === "*" || precision === "*") throw new TemplateProblem("* in a format is not supported");
    byName ||= key !== undefined;
    const value = key === undefined ? next() : named(given, key);
    return padded(percentValue(kind, value, flags, precision), {
      fill: flags.includes("0") && !flags.includes("-") && !"sra".includes(kind) ? "0" : " ",
      align: flags.includes("-") ? "<" : flags.includes("0") && !"sra".includes(kind) ? "=" : ">",
      width: Number(width ?? 0),
    });
  });
  if (result.length > most) throw tooLarge(most);
  if (!byName && used < values.length && !(isMapping(given) || (Array.isArray(given) && !isTuple)))
    throw new TemplateProblem("there are more values than the format has places");
  return result;
}

function named(given: unknown, key: string): unknown {
  const value = isMapping(given) ? lookUp(given, key) : undefined;
  if (value === undefined) throw new TemplateProblem(`the format asks for ${key}, which it is not given`);
  return value;
}

function percentValue(kind: string, value: unknown, flags: string, precision: string | undefined): string {
  const digits = precision === undefined ? undefined : Number(precision || 0);
  const sign = flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  if (kind === "s" || kind === "r" || kind === "a") {
    const whole = kind === "s" ? text(value) : repr(value);
    if (kind === "a" && /[^ -~]/.test(whole))
      throw new TemplateProblem("%a of other than ASCII is not supported");
    return digits === undefined ? whole : Array.from(whole).slice(0, digits).join("");
  }
  if (kind === "c") {
    if (isText(value) && lengthOf(plainText(value)) === 1) return plainText(value);
    if (isInteger(value) && value >= 0 && value <= 0x10ffff) return String.fromCodePoint(value);
    throw new TemplateProblem("%c needs one character");
  }
  if (!isNumber(value)) throw new TemplateProblem(`%${kind} needs a number, not ${nameOfKind(value)}`);
  if ("diu".includes(kind) && kind !== "") {
    const whole = String(Math.abs(Math.trunc(finite(amount(value))))).padStart(digits ?? 0, "0");
    return signText(amount(value), sign, Math.trunc(amount(value)) === 0) + whole;
  }
  if ("xXo".includes(kind) && kind !== "") {
    if (isFloat(value)) throw new TemplateProblem(`%${kind} needs a whole number`);
    const prefix = flags.includes("#") ? `0${kind}` : "";
    const whole = based(Math.abs(amount(value)), kind).padStart(digits ?? 0, "0");
    return signText(amount(value), sign, false) + prefix + whole;
  }
  if (!"eEfFgG".includes(kind) || kind === "") throw new TemplateProblem(`%${kind} is not a format`);
  if (flags.includes("#")) throw new TemplateProblem("# with a decimal number is not supported");
  return signText(amount(value), sign, false) + decimal(amount(value), kind, digits ?? 6);
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new TemplateProblem(`${floatText(value)} is not a whole number`);
}

const signText = (value: number, sign: string, isZero: boolean): string =>
  (value < 0 || Object.is(value, -0)) && !isZero ? "-" : sign;

const based = (value: number, kind: string): string => {
  const digits = value.toString({ x: 16, X: 16, o: 8, b: 2 }[kind] ?? 10);
  return kind === "X" ? digits.toUpperCase() : digits;
};

/** Formats the absolute value of a float. */
function decimal(value: number, kind: string, digits: number): string {
  const size = Math.abs(value);
  const cased = (whole: string): string => (kind === kind.toUpperCase() ? whole.toUpperCase() : whole);
  if (!Number.isFinite(size)) return cased(floatText(size));
  if (kind === "f" || kind === "F") return fixed(size, digits);
  if (kind === "e" || kind === "E") return cased(scientific(size, digits));
  const most = digits === 0 ? 1 : digits;
  const exponent = Number(scientific(size, most - 1).split("e")[1]);
  const whole =
    exponent < -4 || exponent >= most ? scientific(size, most - 1) : fixed(size, most - 1 - exponent);
  const [mantissa = "", power] = whole.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return cased(power === undefined ? short : `${short}e${power}`);
}

function scientific(size: number, digits: number): string {
  if (digits > 100) throw new TemplateProblem("more than 100 digits are not supported");
  const guess = size === 0 ? 0 : Number(size.toExponential().split("e")[1]);
  const rounded = scaledHalfEven(size, digits - guess).toString();
  const power = guess + rounded.length - 1 - digits * (size === 0 ? 0 : 1);
  const all = (size === 0 ? "0".repeat(digits + 1) : rounded).slice(0, digits + 1);
  const mantissa = digits === 0 ? all : `${all.slice(0, 1)}.${all.slice(1)}`;
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function padded(whole: string, { fill, align, width }: Pick<Spec, "fill" | "align" | "width">): string {
  if (width > MOST_WIDTH) throw new TemplateProblem(`a width over ${MOST_WIDTH} is not supported`);
  const room = width - lengthOf(whole);
  if (room <= 0) return whole;
  if (align === "<") return whole + fill.repeat(room);
  if (align === "^") return fill.repeat(Math.floor(room / 2)) + whole + fill.repeat(Math.ceil(room / 2));
  if (align !== "=") return fill.repeat(room) + whole;
  const [lead = ""] = /^[-+ ]?(?:0[xXob](?=[\da-fA-F]))?/.exec(whole) ?? [];
  return lead + fill.repeat(room) + whole.slice(lead.length);
}

const SPEC = /^(?:(.)?([<>=^]))?([-+ ]?)(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?([bcdeEfFgGnosxX%]?)$/su;

/** `format(value, spec)`. */
function formatted(value: unknown, spec: string): string {
  if (spec === "") return text(value);
  const found = SPEC.exec(spec);
  if (!found) throw new TemplateProblem(`${spec} is not a format`);
  const [, fill, align, sign = "", alternate, zero, width, grouping = "", precision, kind = ""] = found;
  const isNumeric = isNumber(value) && typeof value !== "boolean";
  const read: Spec = {
    fill: fill ?? (zero ? "0" : " "),
    align: align ?? (zero ? "=" : isNumeric ? ">" : "<"),
    sign: sign === "-" ? "" : sign,
    isAlternate: alternate === "#",
    width: Number(width),
    grouping,
    precision: precision === undefined ? undefined : Number(precision),
    kind,
  };
  if (isNumeric) return padded(numeric(value, read), read);
  if (!isText(value)) throw new TemplateProblem(`a format is not supported for ${nameOfKind(value)}`);
  if (
    (kind !== "" && kind !== "s") ||
    sign !== "" ||
    alternate === "#" ||
    grouping !== "" ||
    read.align === "="
  )
    throw new TemplateProblem(`${spec} is not a format for texts`);
  const whole = plainText(value);
  return padded(
    read.precision === undefined ? whole : Array.from(whole).slice(0, read.precision).join(""),
    read,
  );
}

function numeric(value: number | Float, spec: Spec): string {
  const size = amount(value);
  const head = signText(size, spec.sign, false);
  const { kind } = spec;
  if (kind === "n" || kind === "s" || kind === "c" || (spec.isAlternate && !"xXob".includes(kind)))
    throw new TemplateProblem(`the format ${kind || "#"} is not supported for numbers`);
  if (kind === "%") return `${head}${grouped(fixed(Math.abs(size) * 100, spec.precision ?? 6), spec)}%`;
  if (kind !== "" && "eEfFgG".includes(kind))
    return head + grouped(decimal(size, kind, spec.precision ?? 6), spec);
  if (kind === "" && isFloat(value)) {
    if (spec.precision === undefined) return head + grouped(floatText(Math.abs(size)), spec);
    const whole = decimal(size, "g", spec.precision || 1);
    return head + grouped(/[.en]/.test(whole) ? whole : `${whole}.0`, spec);
  }
  if (isFloat(value) || spec.precision !== undefined)
    throw new TemplateProblem(`the format ${kind || "with precision"} does not fit this number`);
  const prefix = spec.isAlternate ? `0${kind}` : "";
  return head + prefix + grouped(based(Math.abs(size), kind), spec);
}

function grouped(whole: string, { grouping, kind, fill, align }: Spec): string {
  if (grouping === "") return whole;
  if (fill === "0" && align === "=") throw new TemplateProblem("zeros and groups together are not supported");
  if (grouping === "," && "xXob".includes(kind) && kind !== "")
    throw new TemplateProblem("commas are for decimal numbers");
  const [, lead = "", rest = ""] = /^([\da-fA-F]+)(.*)$/s.exec(whole) ?? [];
  const by = "xXob".includes(kind) && kind !== "" ? 4 : 3;
  const parts: string[] = [];
  for (let end = lead.length; end > 0; end -= by) parts.unshift(lead.slice(Math.max(0, end - by), end));
  return parts.join(grouping) + rest;
}

const FIELD = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::([^{}]*(?:\{[^{}]*\}[^{}]*)*))?\}|[{}]/g;

/** `template.format(…)`. `reach` resolves `.name` and `[key]` as the template itself does. */
export function braceFormat(
  template: string,
  args: readonly unknown[],
  given: Named,
  most: number,
  reach: (value: unknown, key: string | number) => unknown,
): string {
  let next = 0;
  const find = (field: string): unknown => {
    const [, head = "", tail = ""] = /^([^.[]*)(.*)$/s.exec(field) ?? [];
    const key = head === "" ? next++ : /^\d+$/.test(head) ? Number(head) : head;
    let value = typeof key === "number" ? args[key] : given.get(key);
    if (value === undefined) throw new TemplateProblem(`the format asks for ${key}, which it is not given`);
    for (const part of tail.matchAll(/\.([^.[]+)|\[([^\]]+)\]|./gs)) {
      const step = part[1] ?? part[2];
      if (step === undefined) throw new TemplateProblem(`{${field}} is not a field of a format`);
      value = reach(value, /^\d+$/.test(step) && part[2] !== undefined ? Number(step) : step);
    }
    return value;
  };
  const result = template.replace(FIELD, (whole, field?: string, conversion?: string, spec?: string) => {
    if (whole === "{{" || whole === "}}") return whole.charAt(0);
    if (field === undefined) throw new TemplateProblem(`a single ${whole} in a format`);
    const value = find(field);
    const inner = (spec ?? "").replace(/\{([^{}]*)\}/g, (_, name: string) => text(find(name)));
    const converted = conversion === undefined ? value : conversion === "s" ? text(value) : repr(value);
    return formatted(converted, inner);
  });
  if (result.length > most) throw tooLarge(most);
  return result;
}
