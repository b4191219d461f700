/** The contract, clause by clause. */
export const CLAUSES = [
  "1. Scope. The supplier delivers bearings as ordered.",
  "2. Price. 4.10 per piece, fixed for two years.",
  "3. Liability. The supplier is liable without limit.",
  "4. Term. Two years, renewed unless cancelled in writing.",
];
