/** A clock that a test moves. */
export interface TestClock {
  now(): number;
}

const FUNCTION = /^CREATE (OR REPLACE )?FUNCTION/;

type Query = (text: string, values?: readonly unknown[]) => Promise<unknown>;

/**
 * Replaces the server's clock with a test's. Functions of the server read it from a table, which is brought up to date
 * before each statement.
 */
export class ServerClock {
  readonly #clock: TestClock;
  readonly #run: Query;
  readonly #table: string;
  #told: number | undefined;

  constructor(clock: TestClock, run: Query) {
    this.#clock = clock;
    this.#run = run;
    this.#table = `public.test_clock_${process.pid}`;
  }

  /** The statement with this clock instead of the server's. */
  async text(text: string): Promise<string> {
    if (this.#told === undefined)
      await this.#run(
        `CREATE TABLE IF NOT EXISTS ${this.#table} (id integer PRIMARY KEY, ms double precision)`,
      );
    const now = this.#clock.now();
    if (this.#told !== now)
      await this.#run(
        `INSERT INTO ${this.#table} AS clock VALUES (1, ${now}) ON CONFLICT (id) DO UPDATE SET ms = ${now}`,
      );
    this.#told = now;
    const ms = FUNCTION.test(text) ? `(SELECT ms FROM ${this.#table} WHERE id = 1)` : String(now);
    return text.replaceAll("clock_timestamp()", `to_timestamp(${ms} / 1000.0)`);
  }

  async remove(): Promise<void> {
    await this.#run(`DROP TABLE IF EXISTS ${this.#table} CASCADE`);
  }
}
