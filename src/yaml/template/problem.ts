/** A failure inside a template. The caller adds which template it is. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem";
}

/** Thrown for a template that doesn't parse or uses an unsupported Jinja feature. */
export class TemplateSyntax extends TemplateProblem {
  /** The line of the template, from 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

export const tooLarge = (most: number): TemplateProblem =>
  new TemplateProblem(`it comes to more than ${most} characters`);
