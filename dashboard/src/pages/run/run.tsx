import { useEffect, useRef } from "react";
import { actedOf } from "../../acts/run-acts.ts";
import { RunActs } from "../../acts/run-acts-bar.tsx";
import { useApi } from "../../api/use-api.ts";
import { Scrubber } from "../../checkpoints/scrubber.tsx";
import { Loaded } from "../../ui/page.tsx";
import { Announce } from "./announce.tsx";
import { Below } from "./below/below.tsx";
import { Head } from "./head.tsx";
import { LastSteps } from "./last-steps.tsx";
import { useOutline } from "./outline/use-outline.ts";
import { type PlaceUse, usePlace } from "./use-place.ts";
import { Views } from "./views.tsx";

/** A worker that dies tells nobody, so how a run stands is also asked for every few seconds. */
const STANDING_MS = 3_000;

/** One run: what it does, what it did, and what can be done about it. */
export default function RunPage() {
  const place = usePlace();
  const query = useApi("getRun", { run: place.run }, { refetchMs: STANDING_MS });
  const outline = useOutline(place.run);
  return (
    <div className="mx-auto w-full max-w-[140rem] px-4 py-4 sm:px-6">
      <Loaded query={query}>
        {(answer) => (
          <>
            <Announce text={`${answer.word}. ${answer.headline}`} />
            <Head answer={answer} outline={outline.outline} acts={<RunActs run={actedOf(answer)} keys />} />
            <LastSteps tree={outline.tree} onSelect={(step) => place.go({ step, attempt: null })} />
            <Views use={outline} place={place} />
            {/* The steps come first: the server is asked for the rest when they are here. */}
            {outline.outline || outline.error ? (
              <>
                <Moments place={place} newest={answer.run.seq} />
                <Below answer={answer} outline={outline.outline} place={place} />
              </>
            ) : null}
          </>
        )}
      </Loaded>
    </div>
  );
}

/** The scrubber. An address may name a checkpoint by its label, or by the phase it ends. */
function Moments({ place: { run, at, go }, newest }: { readonly place: PlaceUse; readonly newest: number }) {
  const section = useRef<HTMLDivElement>(null);
  const isAsked = useRef(at !== null);
  // Whoever follows a link to a checkpoint wants to see it, below however many steps.
  useEffect(() => {
    if (isAsked.current) section.current?.scrollIntoView({ block: "center" });
  }, []);
  const isNamed = at !== null && !/^\d+$/.test(at);
  const { data } = useApi("getCheckpoint", { run, at: at ?? "last" }, { enabled: isNamed });
  const seq = isNamed ? (data?.seq ?? null) : at === null ? null : Number(at);
  return (
    <div ref={section} className="mt-3">
      <Scrubber
        run={run}
        newest={newest}
        at={seq}
        onAt={(next) => go({ at: next === null ? null : String(next) })}
      />
    </div>
  );
}
