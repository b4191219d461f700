const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;

/** Replaces `${NAME}` and `${NAME:-default}`, reading each character once. */
export function withVariables(
  text: string,
  valueOf: (name: string, fallback: string | undefined) => string,
): string {
  const parts: string[] = [];
  let from = 0;
  // No brace closes anything after the last one.
  const last = text.lastIndexOf("}");
  for (let at = text.indexOf("${"); at >= 0 && at < last; at = text.indexOf("${", at + 2)) {
    NAME.lastIndex = at + 2;
    const name = NAME.exec(text)?.[0];
    if (name === undefined) continue;
    const behind = at + 2 + name.length;
    const hasDefault = text.startsWith(":-", behind);
    if (!hasDefault && text[behind] !== "}") continue;
    const end = text.indexOf("}", behind);
    parts.push(text.slice(from, at), valueOf(name, hasDefault ? text.slice(behind + 2, end) : undefined));
    from = end + 1;
    at = end - 1;
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)].join("");
}

const INCLUDE = /\{%([-+]?)\s*include\s+(["'])([^"']+)\2\s*([-+]?)%\}/y;

/**
 * Expands `{% include "x" %}`. As in Jinja, the included text sees the surrounding names and keeps its own, and a `-`
 * at either end removes the white space there.
 */
export function withIncludes(text: string, textOf: (reference: string) => string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf("{%"); at >= 0; at = text.indexOf("{%", at + 2)) {
    INCLUDE.lastIndex = at;
    const found = INCLUDE.exec(text);
    if (!found) continue;
    const [whole, before, , reference = "", after] = found;
    const [left, right] = [before === "-" ? "{#- #}" : "", after === "-" ? "{# -#}" : ""];
    parts.push(text.slice(from, at), `${left}{% with %}${textOf(reference)}{% endwith %}${right}`);
    from = at + whole.length;
    at = from - 2;
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)].join("");
}
