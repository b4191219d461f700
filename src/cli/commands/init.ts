import { relative, resolve } from "node:path";
import { packageVersion } from "../../testing/package-files.ts";
import { defineCommand } from "../command.ts";
import { columns } from "../format.ts";
import { configText, testText, tsconfigText, workerText } from "../init/files.ts";
import { type Changes, Project } from "../init/project.ts";
import { INPUTS, inWords, TEMPLATES, type TemplateName, withoutTypes } from "../init/templates.ts";

const options = {
  template: {
    flag: "--template <name>",
    summary: "The template to start from",
    choices: ["hello", "gate", "parallel", "recon"],
  },
  js: { flag: "--js", summary: "Write JavaScript instead of TypeScript" },
} as const;

/** `holdfast init [dir]`, and `npm create holdfast [dir]`: a first workflow with a crash test. Existing files are kept. */
export const command = defineCommand({
  name: "init",
  summary: "Create a first workflow and its crash test, in a new or an existing project",
  args: ["[dir]"],
  options,
  examples: ["init", "init my-agent --template gate"],
  async run(context) {
    const project = new Project(resolve(context.host.cwd, context.args[0] ?? "."));
    const name: TemplateName = context.options.template ?? "hello";
    begin(project, name, context.options.js === true);
    const { changes, folder } = project;
    const inside = relative(context.host.cwd, folder);
    const steps = [...(inside === "" ? [] : [`cd ${inside}`]), "npm install", runs(project, "dev", name)];
    return {
      data: { folder, template: name, ...changes },
      text: [told(changes), "", ...steps.map((step) => `  ${step}`)].join("\n"),
      next: [`run ${name} ${inWords(name)}`],
    };
  },
});

function begin(project: Project, name: TemplateName, isJs: boolean): void {
  const isNew = !project.has("package.json");
  const ending = isJs ? "mjs" : "ts";
  const flow = `workflows/${name}.${ending}`;
  const test = `test/${name}.test.${ending}`;
  project.write(flow, isJs ? withoutTypes(TEMPLATES[name]) : TEMPLATES[name]);
  project.write(`holdfast.config.${ending}`, configText(flow));
  project.write(`worker.${ending}`, workerText(name, flow));
  project.write(test, testText(name, flow, INPUTS[name]));
  if (isNew && !isJs) project.write("tsconfig.json", tsconfigText);
  project.manifest({
    scripts: {
      dev: `holdfast run ${name} ${inWords(name)}`,
      start: isJs ? "node worker.mjs" : "tsx worker.ts",
      test: `node ${isJs ? "" : "--import tsx "}--test ${test}`,
    },
    dependencies: { holdfast: `^${packageVersion()}` },
    devDependencies: isJs ? {} : TOOLS,
  });
  project.ignore("node_modules", ".holdfast");
}

const TOOLS = { "@types/node": "^20.19.0", tsx: "^4.19.0", typescript: "^5.9.0" };

/** A script of that name, or what it would have done where another is there. */
const runs = ({ changes }: Project, script: string, name: TemplateName): string =>
  changes.kept.includes(`package.json: scripts.${script}`)
    ? `npx holdfast run ${name} ${inWords(name)}`
    : `npm run ${script}`;

const told = ({ made, added, kept }: Changes): string =>
  columns([
    ...made.map((path) => [`✓ ${path}`, ""]),
    ...added.map((entry) => [`+ ${entry}`, ""]),
    ...kept.map((path) => [`· ${path}`, "was there and is unchanged"]),
  ])
    .map((line) => line.trimEnd())
    .join("\n");
