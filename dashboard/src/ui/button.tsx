import type { ComponentProps } from "react";

const LOOKS = {
  primary: "bg-accent text-accent-ink border-transparent hover:brightness-110",
  plain: "bg-surface text-ink border-line-strong/60 hover:bg-sunken",
  danger: "bg-bad-soft text-bad border-bad/40 hover:brightness-95",
  quiet: "bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink",
} as const;

export interface ButtonProps extends ComponentProps<"button"> {
  readonly look?: keyof typeof LOOKS;
  readonly small?: boolean;
}

export function Button({ look = "plain", small = false, className = "", ...rest }: ButtonProps) {
  const size = small ? "px-2 py-0.5 text-[0.87rem] min-h-7" : "px-3 py-1.5 min-h-9";
  return (
    <button
      type="button"
      {...rest}
      className={`inline-flex items-center justify-center gap-1.5 rounded-md border font-medium transition-colors disabled:cursor-not-allowed disabled:opacity-55 ${size} ${LOOKS[look]} ${className}`}
    />
  );
}
