import { witness } from "holdfast/testing";

// Stands in for a site that knows idempotency keys. Under crash-test the witness counts what is published.
const { HOLDFAST_IDEMPOTENCY_KEY: key } = process.env;
await witness("publication", process.argv[2] ?? "");
console.log(`published under ${key === undefined ? "no key" : "its key"}`);
