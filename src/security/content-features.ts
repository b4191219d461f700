/**
 * The topics of a sentence, by words of many languages, and the combinations that are a sign. Word order doesn't
 * matter: attackers have too many ways to say the same thing.
 */
export const FEATURES: Readonly<Record<string, string>> = {
  abandon:
    "ignore|ignores|disregard|forget|override|overrule|cease|neglect|discard|bypass|scrap|drop|dismiss|reset|set aside|stop following|not follow|don't follow|need to follow|do not obey|disobey|leave your|ignoriere|missachte|vergiss|umgehe|ignorez|oublie|néglige|ignora|olvida|olvide|no sigas|esqueça|desobedeça|desconsidere|dimentica|negeer|vergeet|игнорируй|игнорируйте|забудь|не следуй|zignoruj|pomiń|yok say",
  over: "cancelled|canceled|gone|void|revoked|outdated|obsolete|suspended|disabled|switched off|no longer apply|no longer valid|must not be used|did not exist|don't apply|do not apply|gelten nicht mehr|ya no valen|больше не действуют",
  orders:
    "instructions|instruction|instruct|prompt|prompts|directions|directives|guidelines|rules|rule|policy|policies|constraints|restrictions|safeguards|guardrails|refusals|programming|orders|systemprompt|system message|anweisungen|instruktionen|regeln|vorgaben|consignes|règles|instrucciones|reglas|indicaciones|istruzioni|regole|instruções|regras|instructies|regels|инструкции|инструкциям|указания|правила|instrukcje|zasady|talimatları",
  you: "you|your|you're|yours|yourself|du|dir|dein|deine|deinen|tu|ta|ton|tes|te|ti|tus|tuas|teu|твой|твоя|свои|свой|тебя|je",
  past: "previous|prior|above|earlier|preceding|original|initial|former|before this|up to this point|old ones|so far|vorherigen|obigen|bisherigen|vorhin|précédentes|antérieures|anteriores|previas|precedenti|vorige|bovenstaande|предыдущие|прежние|системным|poprzednie|önceki|do sistema|systemprompt|system prompt|safety guidelines|content policy",
  instead:
    "instead|from now on|from this point|reply with|respond with|reply only|answer only|only my|comply|say yes|begin a new|start over|new task|real assignment|obey|ab jetzt|à partir de maintenant|désormais|a partir de ahora|desde ahora|a partir de agora|что я говорю|только мои",
  role: "act as|act like|acting as|pretend|imagine|roleplay|role play|simulate|respond as if|answer as if|answer like that|you are now|you're now|you are no longer|you will be|be my|stay in character|hypothetically|called|du bist jetzt|tu es désormais|ahora eres|agora você é",
  free: "unrestricted|unfiltered|uncensored|unaligned|never aligned|amoral|no filter|no filters|no restrictions|no limits|no rules|without any rules|without restrictions|without any restrictions|without any ethical|without rules|without limits|without filters|filters removed|says yes to everything|never refuses|no rules at all|ohne jede einschränkung|ohne regeln|sans aucune restriction|sin restricciones|sem restrições|policy did not exist",
  show: "print|reveal|show|show me|output|repeat|display|quote|spell out|list|dump|disclose|recite|complete|translate|give me|what does|what do|what is|what were|tell me|echo|révèle|affiche|montre|muestra|mostre|zeig|gib|покажи",
  innermost:
    "your system prompt|your prompt|your system message|show me the system prompt|reveal the system prompt|print the system prompt|your exact instructions|your initial instructions|hidden rules|hidden prompt|hidden instructions|secret instructions|rules you operate|you were initialised with|you were initialized with|ton message système|tes instructions|tu prompt|deinen systemprompt|свой системный",
  send: "send|forward|mail|email|post|upload|publish|transmit|leak|exfiltrate|share|append|add|paste|copy|include|get request|make a request|create a public|sende|schicke|envoie|envía|envie|отправь",
  sensitive:
    "api key|api keys|password|passwords|credentials|secrets|tokens|session token|card data|credit card|phone numbers|conversation|chat history|source code|environment variables|customer data|confidential|private notes|inbox|address book|salaries|kundendaten|clients|contraseñas|dados do cliente|пароли",
  unseen:
    "let the user know|tell the user|telling the user|inform the user|informing the user|mention this|say nothing|between us|notify the user|without the user|user must not|hide this|keep it from|remove this paragraph|prévenir l'utilisateur|avisar al usuario|dem nutzer",
  not: "do not|don't|never|without|not|nothing|nichts|ohne|sans|sin|sem|remove|stays",
  machine:
    "ai|ais|llm|llms|gpt|chatgpt|copilot|claude|gemini|chatbot|chatbots|bot|language model|language models|ai assistant|ai agent|ai agents|summarizer|summarizers|summariser|automated agents|ki|ia|искусственный интеллект",
  helper: "assistant|assistants|model|agent|reader bot",
  reading:
    "that reads this|reads this|reading this|read this|grading this|reviewing this|processing this|processes this|summarising this|summarizing this|in your answer|in your summary|your summary",
  must: "must|should|shall|please|you must|have to|are required to|instruction for|instructions for|note to|note for|message for|message to|attention",
  tool: "tool|function|shell|bash|terminal|script|command|command line|deploy|delete all files|delete user|transfer funds|grant role|send email",
  run: "run|execute|call|invoke|use|fetch and execute|install",
  hurry:
    "now|immediately|right away|is approved|already approved|pre approved|report success|without asking|without confirmation|already agreed|against production|automatically|without comments",
};

/** Features that are a sign when they occur together. */
export const RULES: readonly {
  readonly kind: string;
  readonly weight: 1 | 2;
  readonly all: readonly string[];
}[] = [
  { kind: "override", weight: 2, all: ["abandon", "orders", "you"] },
  { kind: "override", weight: 2, all: ["abandon", "orders", "instead"] },
  { kind: "override", weight: 2, all: ["abandon", "orders", "past"] },
  { kind: "override", weight: 2, all: ["over", "orders", "you"] },
  { kind: "override", weight: 1, all: ["over", "orders", "past"] },
  { kind: "instead", weight: 1, all: ["instead", "orders"] },
  { kind: "persona", weight: 2, all: ["role", "free"] },
  { kind: "persona", weight: 2, all: ["free", "you", "show"] },
  { kind: "prompt-leak", weight: 2, all: ["show", "innermost"] },
  { kind: "exfiltration", weight: 1, all: ["send", "sensitive"] },
  { kind: "hide", weight: 2, all: ["not", "unseen"] },
  { kind: "address", weight: 2, all: ["machine", "must"] },
  { kind: "address", weight: 2, all: ["helper", "reading"] },
  { kind: "address", weight: 2, all: ["machine", "reading"] },
  { kind: "tool", weight: 1, all: ["run", "tool", "hurry"] },
];
