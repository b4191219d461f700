/** Phrases that nobody says, though each of them has been written here before. */
const PHRASES = [
  /\bto be had\b/,
  /\bcan ?not be had\b/,
  /\bgo(?:es)? on\b/,
  /\bwhat is named how\b/,
  /\bit is said\b/,
  /\bis said to be\b/,
  /\bis no (?:moment|whole number|error code)\b/,
  /\bnone the wiser\b/,
  /\bso it is of\b/,
  /\banswers the (?:row|list|tools)\b/,
  /\bbeginn?ing anew\b/,
  /\bbegin anew\b/,
  /\bstarted anew\b/,
  /\bmade anew\b/,
  /\bbelongs? into\b/,
  /\bso that one\b/,
  /\bbecomes? of (?:it|each|them|the calls)\b/,
  /\bat most so many\b/,
  /\bpassed? over\b/,
  /\bcome to rest by\b/,
  /\bstands? behind\b/,
  /\bis taken up by itself\b/,
  /\bthere is not\b/,
  /\bout there\b/,
  /\bby chance follows\b/,
  /\bof a name\b/,
  /\bnothing of (?:the|it|them|its)\b/,
  /\b(?:another|other) (?:[a-z]+ ){1,3}than\b/,
  /\b(?:others|something else) than\b/,
  /\b(?:is|are|was|were) told of\b/,
  /\bfor so long\b/,
  /[,;] also (?:where|when|those|of|while|after|from)\b/,
  /\b(?:left|available|known) are\b/,
  /\bworker beside\b/,
  /\btells? the same\b/,
  /\btells (?:n of|of others|what came)\b/,
].map((phrase) => new RegExp(phrase, "gi"));

/** The awkward phrases in a text, each with a few words around it. */
export const awkward = (text: string): readonly string[] =>
  PHRASES.flatMap((phrase) =>
    [...text.matchAll(phrase)].map(({ index }) =>
      text
        .slice(Math.max(0, index - 30), index + 40)
        .replace(/\s+/g, " ")
        .trim(),
    ),
  );
