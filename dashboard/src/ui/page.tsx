import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { TEXT } from "../text.ts";
import { CommandLine } from "./copy.tsx";
import { ProblemView } from "./problem.tsx";

export interface PageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** Buttons on the right of the title. */
  readonly acts?: ReactNode;
  readonly children: ReactNode;
}

/** A page: its title is the heading, the title of the window, and what a screen reader hears first. */
export function Page({ title, lead, acts, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · ${TEXT.product}`;
  }, [title]);
  return (
    <div className="mx-auto w-full max-w-[140rem] px-4 py-5 sm:px-6">
      <header className="mb-4 flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <h1 className="text-xl font-semibold tracking-tight break-words">{title}</h1>
          {lead === undefined ? null : <div className="mt-1 text-soft">{lead}</div>}
        </div>
        {acts === undefined ? null : <div className="flex flex-wrap gap-2">{acts}</div>}
      </header>
      {children}
    </div>
  );
}

export function Card({
  title,
  acts,
  children,
  className = "",
}: {
  readonly title?: ReactNode;
  readonly acts?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}) {
  return (
    <section className={`rounded-lg border border-line bg-surface ${className}`}>
      {title === undefined ? null : (
        <div className="flex items-center justify-between gap-2 border-b border-line px-4 py-2">
          <h2 className="font-medium">{title}</h2>
          {acts}
        </div>
      )}
      {children}
    </section>
  );
}

/** What to see when there is nothing to see: what would be here, and how to get it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-xl flex-col items-center gap-3 px-4 py-12 text-center">
      <p className="text-lg font-medium">{title}</p>
      <div className="w-full text-soft">{children}</div>
    </div>
  );
}

/** Shows an answer of the API once it is there. What was there before stays while it is asked for again. */
export function Loaded<Answer>({
  query,
  children,
}: {
  readonly query: UseQueryResult<Answer, Error>;
  readonly children: (answer: Answer) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ProblemView error={query.error} retry={() => void query.refetch()} />;
  return <p className="py-8 text-soft">{TEXT.page.loading}</p>;
}

/** An empty state of a page: what would be here, and the command that makes it. */
export function Teach({
  words,
}: {
  readonly words: { readonly empty: string; readonly teach: string; readonly command: string };
}) {
  return (
    <Empty title={words.empty}>
      <p className="mb-2">{words.teach}</p>
      <CommandLine command={words.command} />
    </Empty>
  );
}
