import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { defineCommand } from "../command.ts";
import { TEMPLATES, type TemplateName } from "../templates.ts";

const options = {
  template: {
    flag: "--template <name>",
    summary: "The template to start from",
    choices: ["hello", "gate", "parallel", "recon"],
  },
} as const;

/** `holdfast init [dir]`: creates a first workflow and a configuration. Existing files stay as they are. */
export const command = defineCommand({
  name: "init",
  summary: "Create a first workflow and a configuration, in a new or an existing project",
  args: ["[dir]"],
  options,
  examples: ["init", "init my-agent --template gate"],
  async run(context) {
    const folder = resolve(context.host.cwd, context.args[0] ?? ".");
    const name: TemplateName = context.options.template ?? "hello";
    const manifest = readManifest(folder);
    const isTs = existsSync(join(folder, "tsconfig.json")) || manifest?.usesTypescript === true;
    const ending = isTs ? "ts" : "mjs";
    const [made, kept]: [string[], string[]] = [[], []];
    const write = (path: string, text: string): void => {
      const file = join(folder, path);
      if (existsSync(file)) return void kept.push(path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      made.push(path);
    };
    const flow = `workflows/${name}.${ending}`;
    if (!manifest) write("package.json", newManifest(folder));
    write(flow, isTs ? TEMPLATES[name] : withoutTypes(TEMPLATES[name]));
    write(`holdfast.config.${ending}`, configText(flow));
    if (ignoreRuns(folder)) made.push(".gitignore");
    const example = EXAMPLES[name];
    const steps = [
      `cd ${relative(context.host.cwd, folder) || "."}`,
      ...(manifest?.hasHoldfast ? [] : ["npm install holdfast"]),
      `npx holdfast run ${name}${example}`,
    ];
    return {
      data: { folder, template: name, made, kept },
      text: [
        ...made.map((path) => `✓ ${path}`),
        ...kept.map((path) => `· ${path} was there and is unchanged`),
        "",
        ...steps.filter((step) => step !== "cd .").map((step) => `  ${step}`),
      ].join("\n"),
      next: [`run ${name}${example}`],
    };
  },
});

const EXAMPLES: Readonly<Record<TemplateName, string>> = {
  hello: " -i name=Ada",
  gate: " -i amount=120",
  parallel: ' -i topics=\'["rain","snow"]\'',
  recon: " -i batch=2026-01",
};

interface Manifest {
  readonly usesTypescript: boolean;
  readonly hasHoldfast: boolean;
}

function readManifest(folder: string): Manifest | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  const { dependencies, devDependencies } = JSON.parse(readFileSync(file, "utf8")) as Record<
    string,
    object | undefined
  >;
  const all = Object.keys({ ...dependencies, ...devDependencies });
  return {
    usesTypescript: all.includes("typescript") || all.includes("tsx"),
    hasHoldfast: all.includes("holdfast"),
  };
}

const newManifest = (folder: string): string => {
  const name = (folder.split(/[\\/]/).at(-1) ?? "agent").toLowerCase().replace(/[^a-z0-9-]+/g, "-");
  return `${JSON.stringify({ name, private: true, type: "module" }, null, 2)}\n`;
};

const configText = (flow: string): string => `import { defineConfig } from "holdfast/config";

export const config = defineConfig({
  store: "sqlite:./.holdfast/holdfast.db",
  workflows: ["./${flow}"],
});
`;

/** The only types in the templates are those of their inputs. */
const withoutTypes = (text: string): string => text.replace(/, input: \{[^}]*\}/g, ", input");

/** Stored runs don't belong in version control. Returns whether the entry had to be added. */
function ignoreRuns(folder: string): boolean {
  const file = join(folder, ".gitignore");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (/^\/?\.holdfast\/?$/m.test(text)) return false;
  appendFileSync(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}.holdfast/\n`);
  return true;
}
