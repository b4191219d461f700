import { askCheck, type ContentItem, type ContentVerdict } from "../../guards/content.ts";
import { askPolicy, type Policy, type PolicyVerdict } from "../../guards/policy.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import type { ContentReview, ResumePlan } from "./plan-types.ts";

/** A worker's questions before it acts, with the answers recorded. */
export class PlanHooks {
  readonly policy: Policy | undefined;
  readonly contentCheck: ((item: ContentItem) => Promise<ContentVerdict>) | undefined;
  readonly #verdicts = new Map<string, PolicyVerdict>();
  readonly #held = new Map<string, ContentReview["held"][number]>();
  #checked = 0;

  constructor({ policy, contentCheck }: Pick<ExecutionDeps, "policy" | "contentCheck">) {
    this.policy = policy && {
      get version() {
        return policy.version;
      },
      decide: async (request) => {
        const verdict = await askPolicy(policy, request);
        this.#verdicts.set(request.step, verdict);
        return verdict;
      },
    };
    this.contentCheck =
      contentCheck && (async (item) => this.#look(item, await askCheck(contentCheck, item)));
  }

  #look({ source, name }: ContentItem, verdict: ContentVerdict): ContentVerdict {
    const place = `${source} ${name}`;
    // A value that is held back may be asked about repeatedly.
    if (!this.#held.has(place)) this.#checked++;
    if (verdict === "allow") this.#held.delete(place);
    else this.#held.set(place, { source, name, verdict });
    return verdict;
  }

  get verdicts(): ResumePlan["policy"] {
    return [...this.#verdicts].map(([step, verdict]) => ({ step, verdict }));
  }

  get content(): ContentReview {
    return { checked: this.#checked, held: [...this.#held.values()] };
  }
}
