import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";

export type Answer = { readonly text: string | boolean } | { readonly error: string };

interface Asked {
  readonly data: unknown;
  readonly templates: readonly string[];
  readonly conditions: readonly string[];
}

interface Answers {
  readonly templates: readonly Answer[];
  readonly conditions: readonly Answer[];
}

const VERSION = "3.1.6";
const script = path.join(import.meta.dirname, "reference.py");

/** The location of the real Jinja2, installed first if necessary; undefined when it isn't available. */
function packages(): { readonly PYTHONPATH?: string } | undefined {
  if (run(["-c", "import jinja2; assert jinja2.__version__.startswith('3.1.')"]).status === 0) return {};
  const folder = path.join(tmpdir(), `holdfast-jinja2-${VERSION}`);
  const env = { PYTHONPATH: folder };
  if (run(["-c", "import jinja2"], env).status === 0) return env;
  run(["-m", "pip", "install", "--quiet", "--target", folder, `jinja2==${VERSION}`]);
  return run(["-c", "import jinja2"], env).status === 0 ? env : undefined;
}

function run(args: readonly string[], env: Record<string, string | undefined> = {}, input = "") {
  return spawnSync("python3", args, {
    encoding: "utf8",
    input,
    env: { ...process.env, ...env },
    maxBuffer: 1 << 26,
  });
}

/** The results of Jinja2 and Python, or why they aren't available. */
export function reference(asked: Asked): Answers | { readonly missing: string } {
  const env = packages();
  if (!env) return { missing: "python3 with jinja2 is not there and could not be installed" };
  const { stdout, stderr, status } = run([script], { ...env, PYTHONUTF8: "1" }, JSON.stringify(asked));
  if (status !== 0) throw new Error(`the reference failed: ${stderr}`);
  return JSON.parse(stdout) as Answers;
}
