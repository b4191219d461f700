import type { RedactionPattern } from "./redact-pattern.ts";

/**
 * Patterns of well-known kinds of secrets. Each begins with fixed letters and repeats up to a limit, so that the search
 * takes time proportional to the text.
 */
export const DETECTORS: readonly RedactionPattern[] = [
  {
    kind: "private-key",
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[\w+/=\s\\:,.]|-(?!----)){0,16384}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  },
  { kind: "jwt", pattern: /\beyJ[\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{8,2048}/g },
  { kind: "api-key", pattern: /\bsk-[A-Za-z0-9_-]{16,300}/g },
  { kind: "stripe-key", pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{10,200}/g },
  { kind: "aws-key", pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { kind: "github-token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})/g },
  { kind: "slack-token", pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,250}/g },
  { kind: "google-key", pattern: /\bAIza[A-Za-z0-9_-]{35}/g },
  { kind: "bearer", pattern: /\b[Bb]earer\s{1,4}[A-Za-z0-9._~+/=-]{16,4096}/g },
  {
    kind: "url-password",
    pattern: /(?<=:\/\/[^\s/:@]{0,100}:)(?!\[redacted:)[^\s/@]{1,256}(?=@)/g,
  },
  { kind: "basic-auth", pattern: /\b[Bb]asic\s{1,4}[A-Za-z0-9+/]{12,4096}={0,2}/g },
];
