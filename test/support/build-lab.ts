import { buildLab } from "../../scripts/build.mjs";

/** Runs before the crash tests, so that the processes they kill run the current sources. */
export default buildLab;
