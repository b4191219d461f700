/** What foretells what new code means for a run, and applies it. */
export { planMigration } from "../changes/migration-plan.ts";
export { noRoute, route } from "../changes/versions.ts";
export { foreseen, said } from "./migrations-outlook.ts";
