import { entries, SAVED, UNCHANGED } from "./entry.ts";

/** 6200 to 6249: streams. */
export const streamErrors = entries({
  "HF-6200": {
    what: "There is no stream {stream}.",
    why: "Nothing has been written under this name, or it was deleted or has expired.",
    safe: UNCHANGED,
    fix: "Check the name. A stream of a run exists from its first item on; others are created with PUT.",
  },
  "HF-6201": {
    what: "Stream {stream} can't be read from {cursor}. {problem}",
    why: "A reader continues from a cursor that it was given before, or from the beginning.",
    safe: UNCHANGED,
    fix: "Read from the beginning, or pass the cursor of the last piece unchanged.",
  },
  "HF-6202": {
    what: "Stream {stream} is closed.",
    why: "A closed stream takes no more items, so that its readers know that they have everything.",
    safe: "Everything that was written before it was closed is there.",
    fix: "Write to another stream, or close it later.",
  },
  "HF-6203": {
    what: "{writer} can't write to stream {stream}: {other} writes to it.",
    why: "After a crash, a writer that didn't finish writes its part anew, and nobody else's may be lost with it. So one step at a time writes to a stream, or the workflow's function does.",
    safe: SAVED,
    fix: "Give each branch that runs in parallel a stream of its own, and don't mix steps and the function around them.",
  },
  "HF-6204": {
    what: "The item can't be written to stream {stream}: it has the type data-restarted.",
    why: "Readers over HTTP get this type when a part of the stream is void, and nothing else may look like it.",
    safe: SAVED,
    fix: "Use another type for the item.",
  },
  "HF-6205": {
    what: "The values of stream {stream} are gone from {cursor} on.",
    why: "Retention has dropped the run's values; a stream is dropped with them.",
    safe: "The run's outcome and its audit are as they were.",
    fix: "Read the run's result, or keep the values longer with a retention policy.",
  },
  "HF-6206": {
    what: "Stream {stream} is deleted.",
    why: "It is kept only because other streams were forked from it.",
    safe: "The forks are as they were.",
    fix: "Use another name, or delete its forks first.",
  },
  "HF-6207": {
    what: "Stream {stream} exists already, and is different: {problem}.",
    why: "Creating a stream twice is no mistake as long as both times mean the same.",
    safe: UNCHANGED,
    fix: "Create it as it is, use another name, or delete it first.",
  },
  "HF-6208": {
    what: "Stream {stream} has the type {type}, and this is {given}.",
    why: "All of a stream has one content type, so that readers know what they get.",
    safe: UNCHANGED,
    fix: "Send content-type: {type}, or write to another stream.",
  },
  "HF-6209": {
    what: "The Stream-Seq of this append to {stream} isn't above the last one.",
    why: "Sequence values of a stream rise, in the order of their bytes, so that a late writer is noticed.",
    safe: UNCHANGED,
    fix: "Read the stream to see what was appended, and continue with a greater value.",
  },
  "HF-6210": {
    what: "Producer {producer} of stream {stream} is at epoch {epoch}.",
    why: "Another instance of the producer has begun a later epoch, so this one may not write any more.",
    safe: UNCHANGED,
    fix: "Stop this instance; or begin a new epoch above {epoch} with sequence 0.",
  },
  "HF-6211": {
    what: "Producer {producer} of stream {stream} left something out: {expected} comes next, and this is {received}.",
    why: "Appends of a producer are numbered without a gap, so that none gets lost unnoticed.",
    safe: UNCHANGED,
    fix: "Send what has the number {expected} first.",
  },
  "HF-6212": {
    what: "There is nothing to append to stream {stream}.",
    why: "The body is empty, or an empty list.",
    safe: UNCHANGED,
    fix: "Send some data; or Stream-Closed: true without a body, to close the stream.",
  },
  "HF-6213": {
    what: "Stream {stream} can't be forked there: {problem}.",
    why: "A fork begins at a place that its source has reached.",
    safe: UNCHANGED,
    fix: "Send an offset that a reader of the source was given.",
  },
  "HF-6214": {
    what: "Stream {stream} is written by its run alone.",
    why: "Its items are part of the run's journal.",
    safe: UNCHANGED,
    fix: "Read it with GET. A stream that clients write to is created under /v1/stream/.",
  },
  "HF-6215": {
    what: "Stream {stream} could not be written: too many write to it at once.",
    why: "Others were faster every time.",
    safe: UNCHANGED,
    fix: "Try again.",
  },
});
