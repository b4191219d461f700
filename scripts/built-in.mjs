/** Libraries that the build puts into the package, each with its licence beside it. They are development dependencies. */
export const BUILT_IN = ["@noble/hashes", "croner", "get-east-asian-width", "mutative"];
