import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { TEXT } from "../text.ts";

/** Texts are cut here until somebody asks for all of it. */
const LONG = 300;
/** So many items of an object or a list are drawn at once. */
const PAGE = 100;

/** A value as a tree that opens, with long texts cut: a large value costs only what is open. */
export function JsonTree({
  value,
  name,
  depth = 0,
  openTo = 1,
}: {
  readonly value: unknown;
  readonly name?: string;
  readonly depth?: number;
  /** Levels that are open at first. */
  readonly openTo?: number;
}) {
  if (typeof value === "object" && value !== null)
    return <Branch value={value} name={name} depth={depth} openTo={openTo} />;
  return (
    <div className="flex min-w-0 gap-1.5 py-px pl-5 font-mono text-[0.87rem] leading-5">
      <Name name={name} />
      <Leaf value={value} />
    </div>
  );
}

const Name = ({ name }: { readonly name: string | undefined }) =>
  name === undefined ? null : <span className="shrink-0 text-soft">{name}:</span>;

function Branch({
  value,
  name,
  depth,
  openTo,
}: {
  readonly value: object;
  readonly name: string | undefined;
  readonly depth: number;
  readonly openTo: number;
}) {
  const [isOpen, setOpen] = useState(depth < openTo);
  const [most, setMost] = useState(PAGE);
  const isList = Array.isArray(value);
  const entries = isOpen ? Object.entries(value) : [];
  const count = Object.keys(value).length;
  if (count === 0)
    return (
      <div className="flex gap-1.5 py-px pl-5 font-mono text-[0.87rem] leading-5">
        <Name name={name} />
        <span className="text-faint">{isList ? "[]" : "{}"}</span>
      </div>
    );
  return (
    <div className="font-mono text-[0.87rem] leading-5">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex items-center gap-1 rounded py-px text-left hover:bg-sunken"
      >
        <ChevronRight aria-hidden className={`size-4 shrink-0 text-faint ${isOpen ? "rotate-90" : ""}`} />
        <Name name={name} />
        <span className="text-faint">
          {isList ? "[" : "{"} {TEXT.json.items(count)} {isList ? "]" : "}"}
        </span>
      </button>
      {isOpen ? (
        <div className="ml-2 border-l border-line pl-2">
          {entries.slice(0, most).map(([key, inner]) => (
            <JsonTree key={key} name={key} value={inner} depth={depth + 1} openTo={openTo} />
          ))}
          {count > most ? (
            <button
              type="button"
              onClick={() => setMost(most + PAGE)}
              className="ml-5 text-busy underline underline-offset-2"
            >
              {TEXT.json.more(count - most)}
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== "string") return <span className="text-busy">{String(value)}</span>;
  const isLong = value.length > LONG && !isWhole;
  return (
    <span className="min-w-0 break-words whitespace-pre-wrap">
      {isLong ? value.slice(0, LONG) : value}
      {isLong ? (
        <button
          type="button"
          onClick={() => setWhole(true)}
          className="ml-1 text-busy underline underline-offset-2"
        >
          {TEXT.json.chars(value.length - LONG)}
        </button>
      ) : null}
    </span>
  );
}
