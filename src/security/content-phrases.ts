/**
 * Phrases of texts that try to give instructions. A phrase is a list of word groups with the most words allowed between
 * them. Alternatives are separated by `|`; one may consist of several consecutive words.
 */
export interface Phrase {
  readonly kind: string;
  /** One sign of weight 2 is enough; of weight 1 it takes two kinds. */
  readonly weight: 1 | 2;
  /** Groups of words, and between them the number of other words allowed. */
  readonly parts: readonly (string | number)[];
}

const phrase = (kind: string, weight: 1 | 2, ...parts: (string | number)[]): Phrase => ({
  kind,
  weight,
  parts,
});

const DROP =
  "ignore|disregard|forget|override|neglect|discard|bypass|skip|dismiss|pay no attention to|stop following|do not follow|don't follow|no longer follow|void|revoke|drop";
const BEFORE =
  "previous|prior|above|earlier|preceding|original|initial|former|past|your|these safety|safety|system|developer|received|given|existing";
const ORDERS =
  "instructions|instruction|prompt|prompts|directions|directives|directive|guidelines|rules|commands|constraints|orders|programming|safeguards|guardrails|system message|criteria and instructions";
const AI =
  "ai|ais|llm|llms|chatbot|chatbots|language model|language models|ai assistant|ai assistants|ai agent|ai agents|ai model|ai models|automated agents|automated agent|assistant reading|assistants reading";
const FREE =
  "unrestricted|unfiltered|uncensored|jailbroken|without restrictions|without any restrictions|no restrictions|no limits|no filters|no rules|any ethical restrictions|without ethical|filters removed|freed from|escaped its guardrails|guardrails removed|never refuses|root access|amoral|does not care about rules";
const ROLE =
  "you are now|you are no longer|act as|pretend|roleplay as|role play as|simulate|stay in character as|you will answer as|answer as";
const SHOW =
  "print|reveal|show|show me|output|repeat|display|list|dump|write|translate|summarise|summarize|tell me|give me|leak|expose|what were|what are|recite";
const SECRET_ORDERS =
  "system prompt|system message|system instructions|initial instructions|original instructions|secret instructions|hidden prompt|hidden instructions|full instructions|confidential instructions|confidential guidelines|initial prompt|context window";
const TAKE =
  "send|sends|forward|post|upload|email|mail|append|include|paste|copy|transmit|leak|put|encode|write them|take|read";
const THINGS =
  "conversation|history|passwords|password|credentials|api key|api keys|session token|session tokens|access token|secrets|every email|all emails|inbox|env file|id rsa|customer table|customer data|contracts|salaries|private notes|address book|all employees|context";

const ENGLISH: readonly Phrase[] = [
  phrase("override", 2, DROP, 5, BEFORE, 2, ORDERS),
  phrase(
    "override",
    2,
    DROP,
    3,
    ORDERS,
    5,
    "above|system message|you received|you were given|you have been given|previously|earlier|before",
  ),
  phrase(
    "override",
    2,
    "forget|ignore|disregard",
    2,
    "everything|all|whatever|anything|what",
    4,
    "told|said|instructed|taught",
  ),
  phrase(
    "override",
    1,
    BEFORE,
    1,
    ORDERS,
    4,
    "outdated|void|revoked|no longer apply|obsolete|changed|suspended|disabled|cancelled",
  ),
  phrase(
    "override",
    2,
    "your instructions have changed|your new task is|your previous programming|your earlier guidelines no longer|take orders from me",
  ),
  phrase(
    "override",
    1,
    "new instructions from|new rule|the following rules instead|what is written below|commands that follow|what i say next|act on this paragraph|follow only",
  ),
  phrase(
    "role",
    2,
    "system override|begin system prompt|safety protocols suspended|guardrails are disabled|content policy is switched off",
  ),
  phrase(
    "persona",
    2,
    "do anything now|developer mode enabled|enable developer mode|in developer mode you|jailbreak mode|evil bot|evilbot",
  ),
  phrase("persona", 2, ROLE, 12, FREE),
  phrase(
    "prompt-leak",
    2,
    SHOW,
    6,
    "your|hidden|secret|confidential",
    3,
    `${SECRET_ORDERS}|prompt|guidelines|rules you must follow`,
  ),
  phrase(
    "prompt-leak",
    2,
    SHOW,
    4,
    SECRET_ORDERS,
    6,
    "verbatim|word for word|given to you|you were given|in full",
  ),
  phrase(
    "prompt-leak",
    2,
    "repeat|output|print",
    3,
    "words above|comes before this line|everything above|text above|contents of your context",
  ),
  phrase(
    "prompt-leak",
    2,
    "your system prompt verbatim|contents of your context|contents of your memory|the rules you must follow",
  ),
  phrase("exfiltration", 1, TAKE, 6, THINGS),
  phrase(
    "exfiltration",
    2,
    TAKE,
    5,
    THINGS,
    8,
    "in your next|to the end of every|into your reply|into the summary|in your answer|webhook|pastebin",
  ),
  phrase("exfiltration", 1, "user's password|user's api key|saved credentials|user's address book"),
  phrase(
    "hide",
    2,
    "do not|don't|never|without",
    1,
    "tell|telling|mention|inform|informing|notify|notifying|alert|alerting|warn|warning|reveal",
    4,
    "the user|this instruction|person you are talking",
  ),
  phrase(
    "hide",
    1,
    "without telling anyone|as if nothing had happened|do not log it|hide these steps|act normally|keep this secret from|that you have read this|quietly",
  ),
  phrase("hide", 1, "final answer|just add|then answer as"),
  phrase("address", 2, "note|message|attention|instructions|hint|hinweis|notice|text is|warning", 5, AI),
  phrase("address", 2, "if you are|if an|to any|to every|to all|dear|hey|ok", 1, AI),
  phrase(
    "address",
    2,
    "hey assistant|ai agents processing|llm instructions|ai instructions|assistant must now|the assistant must",
  ),
  phrase(
    "tool",
    2,
    "you must now|you are required to|you have to now",
    2,
    "call|invoke|execute|run|install|click|open",
  ),
  phrase(
    "tool",
    1,
    "call|invoke|use|execute|run",
    4,
    "tool|function|shell command|delete user|transfer funds|send email|payment function|grant role",
  ),
  phrase(
    "tool",
    1,
    "immediately|pre approved|without asking|already agreed|approved by the owner|next required action|automatically|skip confirmation|skip confirmation for|proceed without confirmation|auto approve to true|restart the agent",
  ),
  phrase(
    "tool",
    1,
    "your terminal tool|your file tool|your shell tool|user is an administrator|the human has already|every user id|my account number|delete everything",
  ),
];

const OTHERS: readonly Phrase[] = [
  phrase(
    "override",
    2,
    "ignoriere|missachte|vergiss|übergehe|umgehe",
    3,
    "vorherigen|obigen|bisherigen|vorigen|früheren|deine|vorangegangenen|alles was dir",
    2,
    "anweisungen|regeln|instruktionen|vorgaben|befehle|gesagt|bisher gesagt",
  ),
  phrase(
    "override",
    2,
    "beachte",
    2,
    "bisherigen|obigen|vorherigen",
    1,
    "instruktionen|anweisungen|regeln",
    1,
    "nicht",
  ),
  phrase(
    "override",
    2,
    "ignore|oublie|néglige|ne tiens pas compte|ne tenez pas compte|ignorez|oubliez",
    3,
    "instructions|consignes|règles|directives|ce qu'on t'a dit|tout ce qu'on",
    2,
    "précédentes|ci dessus|antérieures|précédente|dit|dit avant|avant|t'a dit",
  ),
  phrase(
    "override",
    2,
    "ignora|olvida|ignore|olvide|no hagas caso|dimentica|ignorar|esqueça|esquece|desconsidere",
    5,
    "instrucciones|reglas|indicaciones|istruzioni|regole|instruções|regras|ordens|órdenes",
    4,
    "anteriores|previas|precedenti|anterior|date prima|prima|previos",
  ),
  phrase(
    "override",
    2,
    "negeer|vergeet",
    2,
    "vorige|bovenstaande|eerdere",
    1,
    "instructies|regels|opdrachten",
  ),
  phrase(
    "override",
    2,
    "игнорируй|игнорируйте|забудь|забудьте|отбрось",
    2,
    "предыдущие|прежние|прошлые|все предыдущие",
    1,
    "инструкции|указания|правила|команды",
  ),
  phrase(
    "override",
    2,
    "zignoruj|zapomnij|pomiń",
    2,
    "poprzednie|wcześniejsze",
    1,
    "instrukcje|polecenia|zasady",
  ),
  phrase(
    "override",
    2,
    "önceki",
    2,
    "talimatları|kuralları|komutları",
    2,
    "yok say|unut|görmezden gel|dikkate alma",
  ),
  phrase(
    "persona",
    2,
    "du bist jetzt|du bist ab sofort|tu es désormais|tu es maintenant|ahora eres|agora você é|ora sei",
    4,
    "ohne jede|ohne|sans aucune|sans|sin|sem|senza",
    2,
    "einschränkung|einschränkungen|restriction|restrictions|restricciones|restrições|restrizioni|regeln|filter",
  ),
  phrase(
    "prompt-leak",
    2,
    "gib|zeig|zeige|affiche|montre|muestra|mostra|toon|покажи|выведи",
    4,
    "systemprompt|prompt système|prompt del sistema|instructions initiales|instrucciones de sistema|instrucciones iniciales|prompt di sistema|systeemprompt|системный промпт|системный",
  ),
  phrase(
    "exfiltration",
    1,
    "sende|schicke|envoie|envoyez|envía|envie|invia|отправь",
    5,
    "kundendaten|passwörter|clients|contraseñas|datos|dados|dati|пароли|данные",
  ),
  phrase(
    "hide",
    2,
    "sag|sans|sin|ohne|sem|senza",
    2,
    "nutzer|prévenir|avisar|benutzer|informer|informar",
    3,
    "nichts|l'utilisateur|usuario|al usuario|informieren|utilisateur|o usuário",
  ),
  phrase("hide", 1, "erwähne es nicht|sage nichts|n'en parle pas"),
  phrase(
    "address",
    2,
    "hinweis|aviso|avviso|note|nota|achtung",
    4,
    "ki|modelo de linguagem|modelo de lenguaje|modèle de langage|ia|l'ia|modello linguistico",
  ),
];

export const PHRASES: readonly Phrase[] = [...ENGLISH, ...OTHERS];

export interface Mark {
  readonly kind: string;
  readonly weight: 1 | 2;
  readonly pattern: RegExp;
}

/**
 * Patterns without words: role markers, destinations for data, and languages written without spaces. Each is limited in
 * length.
 */
export const MARKS: readonly Mark[] = [
  {
    kind: "role",
    weight: 2,
    pattern:
      /<\|(?:im_start|im_end|system|user|assistant|end|start_header_id|eot_id)\|>|\[\/?inst\]|<<\/?sys>>/,
  },
  { kind: "role", weight: 2, pattern: /<\/?(?:system|system_prompt|assistant|developer)>/ },
  { kind: "role", weight: 2, pattern: /"role"\s{0,4}:\s{0,4}"(?:system|developer)"/ },
  { kind: "role", weight: 2, pattern: /#{2,4} {0,2}(?:system|instruction)s?:\n/ },
  { kind: "role", weight: 1, pattern: /(?:^|\n)[^\n]{0,2}(?:system|system message|developer message) ?:/ },
  { kind: "role", weight: 2, pattern: /\n(?:human|user): [^\n]{1,200}\n{1,3}assistant:/ },
  {
    kind: "role",
    weight: 2,
    pattern: /\[\/?system\]|```system\n|begin (?:admin|system|developer) (?:input|prompt|message)/,
  },
  { kind: "destination", weight: 1, pattern: /https?:\/\/[^\s)]{4,200}/ },
  { kind: "destination", weight: 1, pattern: /\b[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,10}\b/ },
  {
    kind: "exfiltration",
    weight: 2,
    pattern: /!\[[^\]\n]{0,80}\]\(https?:\/\/[^\s)]{1,200}=(?:\{|%7b|data)/,
  },
  { kind: "tool", weight: 2, pattern: /\b(?:curl|wget) [^\n|]{1,200}\| {0,2}(?:sh|bash|python)\b/ },
  { kind: "tool", weight: 2, pattern: /\brm -rf? (?:\/|~)(?:[\s`"'*]|$)/ },
  { kind: "tool", weight: 1, pattern: /\/etc\/(?:shadow|passwd)\b/ },
  {
    kind: "override",
    weight: 2,
    pattern:
      /(?:忽略|无视|無視|忘记|忘掉|不要理会|不要遵守|不受)[^。\n]{0,12}(?:指令|指示|规则|規則|规定|提示词|要求)/,
  },
  { kind: "override", weight: 2, pattern: /(?:指示|命令|ルール|規則)[^。\n]{0,12}(?:無視し|忘れ)/ },
  { kind: "override", weight: 2, pattern: /(?:지시|규칙|명령|지침)[^.\n]{0,12}(?:무시|잊)/ },
  { kind: "override", weight: 2, pattern: /تجاهل[^.\n]{0,20}(?:التعليمات|الأوامر|القواعد)/ },
  { kind: "override", weight: 2, pattern: /(?:निर्देशों|निर्देश|नियमों)[^।\n]{0,12}(?:अनदेखा|नज़रअंदाज़|भूल)/ },
  {
    kind: "prompt-leak",
    weight: 2,
    pattern: /(?:输出|显示|打印|泄露)[^。\n]{0,8}(?:系统提示词|系统提示|初始指令)/,
  },
  {
    kind: "prompt-leak",
    weight: 2,
    pattern: /システムプロンプトを(?:表示|出力|教え)|시스템 프롬프트를 (?:출력|표시|알려)/,
  },
  { kind: "persona", weight: 2, pattern: /你现在是[^。\n]{0,12}(?:没有任何限制|不受限制|无限制)/ },
  { kind: "address", weight: 2, pattern: /(?:致|告)[^。\n]{0,12}(?:人工智能|大模型|语言模型)/ },
];

/** Words of people who write about attacks. What they quote isn't addressed to the reader. */
export const DISCUSSION =
  /prompt injection|\battack(?:s|er|ers|er's)?\b|\bowasp\b|red team|researchers|vulnerabilit|phishing|\bangriffe?\b|\bpayload "/;

/** Signs that even a quotation is meant to be obeyed. */
export const OBEYED =
  /do (?:exactly )?(?:that|this|it) now|treat it as a command|obey it|and follow:|then obey/;
