// A page for each error code, made from docs/errors.md, which `npm run docs` makes from the table of errors.
import { readFileSync } from "node:fs";

export default {
  watch: ["../errors.md"],
  paths() {
    const text = readFileSync(new URL("../errors.md", import.meta.url), "utf8");
    return [...text.matchAll(/^### (HF-\d+)\n\n(.*?)(?=\n\n##|\n*$(?![\s\S]))/gms)].map(
      ([, code, content]) => ({
        params: { code },
        content,
      }),
    );
  },
};
