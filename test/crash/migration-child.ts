import { writeSync } from "node:fs";
import { chooseDriver } from "../../src/stores/sqlite/driver.ts";
import { migrate } from "../../src/stores/sqlite/migrations.ts";

/** Migrates a file and kills itself at the given step, or prints the number of steps. */
const [file = "", step] = process.argv.slice(2);
const db = (await chooseDriver("auto")).connect(file);
// With so little cache, pages go to the WAL long before the commit.
db.exec("PRAGMA busy_timeout = 20000; PRAGMA synchronous = FULL; PRAGMA cache_size = 4");
let steps = 0;
migrate(db, file, () => {
  if (++steps === Number(step)) process.kill(process.pid, "SIGKILL");
});
db.close();
writeSync(1, `${steps}\n`);
