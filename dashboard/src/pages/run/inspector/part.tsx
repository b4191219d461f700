import type { ReactNode } from "react";

/** A part of the inspector, with its heading. */
export const Part = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <div className="border-b border-line px-4 py-3 last:border-b-0">
    <h3 className="mb-1 text-[0.82rem] font-medium text-soft">{title}</h3>
    {children}
  </div>
);

export const Facts = ({ children }: { readonly children: ReactNode }) => (
  <dl className="grid grid-cols-[7.5rem_1fr] gap-x-3 gap-y-1 border-b border-line px-4 py-3">{children}</dl>
);

export const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="contents">
    <dt className="text-soft">{name}</dt>
    <dd className="min-w-0 break-words">{children}</dd>
  </div>
);
