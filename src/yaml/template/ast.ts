/** The tree of a template. Chains of operators and of `.a[b]|c` are flat, so that a long line isn't a deep tree. */
export type Expression =
  | { readonly type: "const"; readonly value: unknown }
  | Name
  | { readonly type: "list" | "tuple"; readonly items: readonly Expression[] }
  | { readonly type: "dict"; readonly pairs: readonly (readonly [Expression, Expression])[] }
  | { readonly type: "math"; readonly first: Expression; readonly rest: readonly Operand[] }
  | { readonly type: "compare"; readonly first: Expression; readonly rest: readonly Operand[] }
  | { readonly type: "concat"; readonly parts: readonly Expression[] }
  | { readonly type: "and" | "or"; readonly parts: readonly Expression[] }
  | { readonly type: "not"; readonly of: Expression }
  | { readonly type: "sign"; readonly sign: "+" | "-"; readonly of: Expression }
  | Choice
  | Path;

export interface Name {
  readonly type: "name";
  readonly name: string;
}

/** `whenTrue if test else otherwise`. */
export interface Choice {
  readonly type: "choice";
  readonly test: Expression;
  readonly whenTrue: Expression;
  readonly otherwise: Expression | undefined;
}

export interface Operand {
  readonly operator: string;
  readonly right: Expression;
}

/** A postfix: `.a`, `[b]`, `[1:2]`, `(…)`, `|filter`, `is test`. */
export interface Path {
  readonly type: "path";
  readonly base: Expression;
  readonly links: readonly Link[];
}

export type Link =
  | { readonly type: "attribute"; readonly name: string }
  | { readonly type: "item"; readonly key: Expression }
  | { readonly type: "slice"; readonly parts: readonly (Expression | undefined)[] }
  | ({ readonly type: "call" } & Arguments)
  | FilterLink
  | ({ readonly type: "test"; readonly name: string; readonly isNegated: boolean } & Arguments);

export type FilterLink = { readonly type: "filter"; readonly name: string } & Arguments;

export interface Arguments {
  readonly args: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  readonly line: number;
}

export type Target =
  | Name
  | { readonly type: "member"; readonly holder: string; readonly name: string }
  | { readonly type: "targets"; readonly items: readonly Target[] };

export interface Parameter {
  readonly name: string;
  readonly fallback: Expression | undefined;
}

export interface MacroNode {
  readonly type: "macro";
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: readonly Statement[];
  /** The names that its body uses: `varargs`, `kwargs` and `caller` are passed only if used. */
  readonly uses: ReadonlySet<string>;
}

export interface ForNode {
  readonly type: "for";
  readonly target: Target;
  readonly over: Expression;
  readonly test: Expression | undefined;
  readonly isRecursive: boolean;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[];
}

export type Statement =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "print"; readonly value: Expression }
  | {
      readonly type: "if";
      readonly branches: readonly (readonly [Expression, readonly Statement[]])[];
      readonly otherwise: readonly Statement[];
    }
  | ForNode
  | { readonly type: "set"; readonly target: Target; readonly value: Expression }
  | {
      readonly type: "capture";
      readonly target: Target;
      readonly filters: readonly FilterLink[];
      readonly body: readonly Statement[];
    }
  | MacroNode
  | { readonly type: "caller"; readonly macro: MacroNode; readonly call: Path }
  | {
      readonly type: "filtered";
      readonly filters: readonly FilterLink[];
      readonly body: readonly Statement[];
    }
  | {
      readonly type: "with";
      readonly bindings: readonly (readonly [Target, Expression])[];
      readonly body: readonly Statement[];
    }
  | {
      readonly type: "block";
      readonly name: string;
      readonly isScoped: boolean;
      readonly body: readonly Statement[];
    };
