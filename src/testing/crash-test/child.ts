import { readFileSync } from "node:fs";
import type { SceneConfig } from "./config.ts";
import { runScene } from "./run-scene.ts";

process.exit(await runScene(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as SceneConfig));
