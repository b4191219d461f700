/** Libraries that the build puts into the package, each with its licence beside it. They are development dependencies. */
export const BUILT_IN = ["get-east-asian-width", "mutative"];
