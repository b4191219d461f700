/** Something in a template goes wrong. Who renders says in which template. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem";
}

/** A template that does not parse, or asks for something of Jinja that is not there. */
export class TemplateSyntax extends TemplateProblem {
  /** Which line of the template, from 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

export const tooLarge = (most: number): TemplateProblem =>
  new TemplateProblem(`it comes to more than ${most} characters`);
