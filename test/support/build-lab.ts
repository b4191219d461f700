import { buildLab } from "../../scripts/build.mjs";

/** Before the crash tests: the processes they kill run what the sources say now. */
export default buildLab;
