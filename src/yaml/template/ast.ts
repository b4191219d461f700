import { parse, tokenize } from "@huggingface/jinja";

/** What the parser makes of a template, as far as it is used here. Its classes are told apart by `type`. */
export type Node =
  | { readonly type: "Comment" | "Break" | "Continue" }
  | { readonly type: "If"; readonly test: Node; readonly body: Node[]; readonly alternate: Node[] }
  | {
      readonly type: "For";
      readonly loopvar: Name | List;
      readonly iterable: Node;
      readonly body: Node[];
      readonly defaultBlock: Node[];
    }
  | { readonly type: "Set"; readonly assignee: Node; readonly value: Node | null; readonly body: Node[] }
  | MacroNode
  | { readonly type: "FilterStatement"; readonly filter: Name | CallNode; readonly body: Node[] }
  | { readonly type: "CallStatement" | "SpreadExpression" | "KeywordSpreadExpression" }
  | MemberNode
  | CallNode
  | Name
  | List
  | { readonly type: "IntegerLiteral" | "FloatLiteral"; readonly value: number }
  | { readonly type: "StringLiteral"; readonly value: string }
  | { readonly type: "ObjectLiteral"; readonly value: Map<Node, Node> }
  | {
      readonly type: "BinaryExpression";
      readonly operator: { readonly value: string };
      readonly left: Node;
      readonly right: Node;
    }
  | { readonly type: "FilterExpression"; readonly operand: Node; readonly filter: Name | CallNode }
  | { readonly type: "SelectExpression"; readonly lhs: Node; readonly test: Node }
  | {
      readonly type: "TestExpression";
      readonly operand: Node;
      readonly negate: boolean;
      readonly test: Name;
    }
  | {
      readonly type: "UnaryExpression";
      readonly operator: { readonly value: string };
      readonly argument: Node;
    }
  | SliceNode
  | KeywordNode
  | {
      readonly type: "Ternary";
      readonly condition: Node;
      readonly trueExpr: Node;
      readonly falseExpr: Node;
    };

export interface Name {
  readonly type: "Identifier";
  readonly value: string;
}
export interface List {
  readonly type: "ArrayLiteral" | "TupleLiteral";
  readonly value: Node[];
}
export interface MemberNode {
  readonly type: "MemberExpression";
  readonly object: Node;
  readonly property: Node;
  readonly computed: boolean;
}
export interface CallNode {
  readonly type: "CallExpression";
  readonly callee: Node;
  readonly args: Node[];
}
export interface SliceNode {
  readonly type: "SliceExpression";
  readonly start?: Node;
  readonly stop?: Node;
  readonly step?: Node;
}
export interface KeywordNode {
  readonly type: "KeywordArgumentExpression";
  readonly key: Name;
  readonly value: Node;
}
export interface MacroNode {
  readonly type: "Macro";
  readonly name: Name;
  readonly args: (Name | KeywordNode)[];
  readonly body: Node[];
}

/** The statements of Jinja that name other templates: they are resolved when a file is read, or refused. */
const LOADERS = /\{%-?\s*(include|import|from|extends|block)\b/;

/** The template's tree, or what is wrong with the template. */
export function parseTemplate(source: string): { readonly body: Node[] } | { readonly problem: string } {
  const loader = LOADERS.exec(source)?.[1];
  if (loader === "include")
    return { problem: "{% include %} is only for prompts that come from a file with !file" };
  if (loader !== undefined) return { problem: `{% ${loader} %} is not supported` };
  try {
    // The parser drops one newline at the end, which belongs to the text here.
    const tokens = tokenize(source.endsWith("\n") ? `${source}\n` : source);
    return { body: (parse(tokens) as unknown as { body: Node[] }).body };
  } catch (error) {
    return { problem: told(error) };
  }
}

function told(error: unknown): string {
  // Where its input ends too early the parser runs into its own undefined.
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError)
    return "it ends before a {% block %}, a bracket or an expression in it does";
  return error.message.replace(/^Parser Error: /, "");
}
