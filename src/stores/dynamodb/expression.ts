import type { Value } from "./service.ts";

/** Collects the names and values of one call's expressions, because DynamoDB reserves nearly every plain word. */
export class Expression {
  readonly #names: Record<string, string> = {};
  readonly #values: Record<string, Value> = {};
  readonly #sets: string[] = [];
  readonly #removes: string[] = [];

  name(attribute: string): string {
    this.#names[`#${attribute}`] = attribute;
    return `#${attribute}`;
  }

  value(value: Value): string {
    const name = `:v${Object.keys(this.#values).length}`;
    this.#values[name] = value;
    return name;
  }

  set(attribute: string, value: Value | undefined): void {
    if (value === undefined) this.#removes.push(this.name(attribute));
    else this.#sets.push(`${this.name(attribute)} = ${this.value(value)}`);
  }

  add(attribute: string, amount: number): void {
    const name = this.name(attribute);
    this.#sets.push(`${name} = ${name} + ${this.value({ N: String(amount) })}`);
  }

  compare(attribute: string, operator: "=" | "<=", value: Value): string {
    return `${this.name(attribute)} ${operator} ${this.value(value)}`;
  }

  between(attribute: string, [low, high]: readonly [string, string]): string {
    return `${this.name(attribute)} BETWEEN ${this.value({ S: low })} AND ${this.value({ S: high })}`;
  }

  get update(): string {
    const sets = this.#sets.length === 0 ? [] : [`SET ${this.#sets.join(", ")}`];
    const removes = this.#removes.length === 0 ? [] : [`REMOVE ${this.#removes.join(", ")}`];
    return [...sets, ...removes].join(" ");
  }

  /** The attribute names and values that the call needs beside its expressions. */
  get attributes(): {
    ExpressionAttributeNames: Record<string, string>;
    ExpressionAttributeValues?: Record<string, Value>;
  } {
    const names = { ExpressionAttributeNames: this.#names };
    return Object.keys(this.#values).length === 0
      ? names
      : { ...names, ExpressionAttributeValues: this.#values };
  }
}
