import { PACKAGE_ROOT } from "../src/testing/package-files.ts";

/**
 * The built form of a script that runs in its own process, given its path from the root without `.ts`. It is one file
 * that includes the sources of Holdfast, because a process that compiles them first starts too slowly.
 */
export const childScript = (name: string): string => `${PACKAGE_ROOT}lab/dist/${name}.js`;
