import { appendFileSync } from "node:fs";
import type { ErrorDocument } from "./error-document.ts";
import { oneLine } from "./format.ts";
import type { Host } from "./host.ts";
import type { Output } from "./output.ts";
import { visible } from "./sink.ts";

/** Output for GitHub Actions: a run's lines in a group, a failure at the top of the job, and a summary page. */
export class GithubLog {
  readonly #isOn: boolean;
  readonly #summary: string | undefined;
  readonly #out: Output;

  constructor({ env }: Pick<Host, "env">, out: Output) {
    this.#isOn = env["GITHUB_ACTIONS"] === "true" && !out.isJson;
    this.#summary = env["GITHUB_STEP_SUMMARY"];
    this.#out = out;
  }

  open(title: string): void {
    if (this.#isOn) this.#out.say(`::group::${oneLine(title)}`);
  }

  close(): void {
    if (this.#isOn) this.#out.say("::endgroup::");
  }

  failed({ code, message, safe, fix }: ErrorDocument, file: string | undefined): void {
    const at = file === undefined ? "" : `file=${escaped(file)},`;
    if (this.#isOn)
      this.#out.say(`::error ${at}title=${code}::${escaped(`${message}\n${safe}\n${fix.join("\n")}`)}`);
    this.#summarise(`### ✗ ${message} \`${code}\`\n\n${safe}\n\n\`\`\`sh\n${fix.join("\n")}\n\`\`\`\n`);
  }

  completed(line: string): void {
    this.#summarise(`### ✓ ${line}\n`);
  }

  #summarise(text: string): void {
    if (this.#isOn && this.#summary !== undefined) appendFileSync(this.#summary, visible(text));
  }
}

/** The rest of the line is one message, which these characters would end. */
const escaped = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
