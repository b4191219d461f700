/** One line of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const SUFFIXES = ["_bucket", "_sum", "_count"];

/**
 * Reads Prometheus' text format 0.0.4 strictly: HELP and TYPE once and before their samples, names and escapes as the
 * format says, no sample twice, buckets cumulative and complete.
 */
export function parsePrometheus(text: string): Map<string, Family> {
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line doesn't end");
  const families = new Map<string, { name: string; type: string; help: string; samples: Sample[] }>();
  const seen = new Set<string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const comment = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line);
    if (comment) {
      const [, what, name = "", rest = ""] = comment;
      const family = families.get(name) ?? { name, type: "", help: "", samples: [] };
      if (family.samples.length > 0) throw new Error(`${what} of ${name} comes after its samples`);
      families.set(name, what === "HELP" ? { ...family, help: rest } : { ...family, type: rest });
      continue;
    }
    const sample = parseSample(line);
    const key = JSON.stringify([sample.name, inOrder(sample.labels)]);
    if (seen.has(key)) throw new Error(`twice: ${line}`);
    seen.add(key);
    const base = SUFFIXES.map((suffix) => sample.name.slice(0, -suffix.length)).find(
      (name, index) =>
        sample.name.endsWith(SUFFIXES[index] ?? "") && families.get(name)?.type === "histogram",
    );
    const family = families.get(base ?? sample.name);
    if (!family?.type) throw new Error(`no type: ${line}`);
    family.samples.push(sample);
  }
  for (const family of families.values()) if (family.type === "histogram") checkHistogram(family);
  return families;
}

function parseSample(line: string): Sample {
  const name = NAME.exec(line)?.[0];
  if (!name) throw new Error(`no name: ${line}`);
  const labels: Record<string, string> = {};
  let rest = line.slice(name.length);
  if (rest.startsWith("{")) {
    rest = rest.slice(1);
    while (!rest.startsWith("}")) {
      const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,?)/.exec(rest);
      if (!label) throw new Error(`bad labels: ${line}`);
      const [all, key = "", value = ""] = label;
      if (key in labels) throw new Error(`label ${key} twice: ${line}`);
      labels[key] = value.replace(/\\([\\"n])/g, (_, one: string) => (one === "n" ? "\n" : one));
      rest = rest.slice(all.length);
    }
    rest = rest.slice(1);
  }
  const number = /^ (NaN|[+-]Inf|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(rest)?.[1];
  if (number === undefined) throw new Error(`bad value: ${line}`);
  return { name, labels, value: Number(number.replace("Inf", "Infinity")) };
}

function checkHistogram({ name, samples }: Family): void {
  const series = new Map<string, { le: number; value: number }[]>();
  for (const sample of samples.filter((one) => one.name === `${name}_bucket`)) {
    const { le = "", ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    series.set(key, [
      ...(series.get(key) ?? []),
      { le: Number(le.replace("Inf", "Infinity")), value: sample.value },
    ]);
  }
  for (const [labels, buckets] of series) {
    const count = samples.find(
      (one) => one.name === `${name}_count` && JSON.stringify(one.labels) === labels,
    )?.value;
    if (buckets.at(-1)?.le !== Number.POSITIVE_INFINITY || buckets.at(-1)?.value !== count)
      throw new Error(`${name}${labels} has no bucket for everything`);
    for (const [index, { le, value }] of buckets.entries()) {
      const before = buckets[index - 1];
      if (before && (before.le >= le || before.value > value))
        throw new Error(`${name}${labels} isn't cumulative`);
    }
  }
}

/** The value of a sample with exactly these labels. */
export function valueOf(
  families: Map<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = JSON.stringify(inOrder(labels));
  return [...families.values()]
    .flatMap(({ samples }) => samples)
    .find((one) => one.name === name && JSON.stringify(inOrder(one.labels)) === wanted)?.value;
}

const inOrder = (labels: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
