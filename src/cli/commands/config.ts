import { type CommandGroup, defineCommand } from "../command.ts";
import { withoutPassword } from "../config/store-url.ts";
import { columns } from "../format.ts";

const show = defineCommand({
  name: "show",
  summary: "Show every setting and where it comes from",
  async run(context) {
    const { file, root, values, origins, notes } = await context.settings();
    const rows = Object.entries(origins).flatMap(([key, origin]) =>
      flat(key, shownValue(key, values[key as keyof typeof values])).map(([name, value]) => ({
        name,
        value,
        origin,
      })),
    );
    const { dim } = context.out.paint;
    const lines = columns(rows.map(({ name, value, origin }) => [name, plain(value), dim(origin)]));
    return {
      data: {
        file: file ?? null,
        root,
        values: Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest])),
        notes,
      },
      text: [
        dim(file ?? "no configuration file; these are the defaults"),
        ...lines,
        ...notes.map((note) => `! ${note}`),
      ].join("\n"),
    };
  },
});

const validate = defineCommand({
  name: "validate",
  summary: "Check the configuration",
  async run(context) {
    // Reading it throws whatever is wrong.
    const { file, notes } = await context.settings();
    const told = file === undefined ? "✓ no configuration file: the defaults are used" : `✓ ${file} is valid`;
    return {
      data: { file: file ?? null, valid: true, notes },
      text: [told, ...notes.map((note) => `! ${note}`)].join("\n"),
    };
  },
});

const schema = defineCommand({
  name: "schema",
  summary: "Print the configuration's JSON schema, for editors",
  async run() {
    const { jsonSchema } = await import("../config/schema.ts");
    const found = jsonSchema();
    return { data: { jsonSchema: found }, text: JSON.stringify(found, null, 2), isValue: true };
  },
});

/** `holdfast config show|validate|schema`. */
export const command: CommandGroup = {
  name: "config",
  summary: "Show and check the configuration",
  commands: [show, validate, schema],
  otherwise: "show",
};

/** Shows objects of plain values key by key. */
function flat(key: string, value: unknown): [string, unknown][] {
  const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
  return isGroup ? Object.entries(value).map(([inner, one]) => [`${key}.${inner}`, one]) : [[key, value]];
}

/** Hides secrets, and names values without a text form. */
function shownValue(key: string, value: unknown): unknown {
  if (key === "store" && typeof value === "string") return withoutPassword(value);
  if (key === "encryption" && typeof value === "object") return "keys given";
  if (key === "providers") return Object.keys(value as object);
  if (key === "workflows")
    return (value as readonly (string | { name: string })[]).map((one) =>
      typeof one === "string" ? one : one.name,
    );
  return value;
}

const plain = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
