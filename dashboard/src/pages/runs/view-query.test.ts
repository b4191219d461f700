import { describe, expect, it } from "vitest";
import { queryOf } from "./filter.ts";
import { viewQuery, viewText } from "./view-query.ts";

describe("a saved view", () => {
  it("is a query of the API, whatever the order in which it was typed", () => {
    expect(viewQuery("HTTP 500 label:team=x -status:queued status:failed")).toBe(
      "status=failed&notStatus=queued&label=team%3Dx&text=HTTP+500",
    );
    expect(viewQuery("status:failed HTTP 500 -status:queued label:team=x")).toBe(
      viewQuery("HTTP 500 label:team=x -status:queued status:failed"),
    );
  });

  it("comes back as somebody would type it, and means the same", () => {
    for (const text of [
      'status:failed workflow:"pay out" -label:a=b needs:you',
      "error:abc before:2026-01-31 name:x key:k parent:p two words",
    ]) {
      const shown = viewText(viewQuery(text));
      expect(queryOf(shown, 0)).toEqual(queryOf(text, 0));
      expect(viewQuery(shown)).toBe(viewQuery(text));
    }
  });

  it("leaves out a span, which moves with the time", () => {
    expect(viewQuery("status:failed since:24h")).toBe("status=failed");
    expect(viewQuery("since:24h")).toBe("");
  });
});
