import { type ReactNode, useId } from "react";

/** One of several choices, with what it means. */
export function Choice({
  group,
  title,
  children,
  isChosen,
  onChoose,
}: {
  /** The name that the choices share. */
  readonly group: string;
  readonly title: string;
  /** What it means. */
  readonly children?: ReactNode;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}) {
  const id = useId();
  return (
    <div className="relative flex items-baseline gap-2.5 rounded-md px-2 py-1.5 hover:bg-sunken has-checked:bg-accent-soft">
      <input
        id={id}
        type="radio"
        name={group}
        checked={isChosen}
        onChange={onChoose}
        className="relative z-1"
        {...(children === undefined ? {} : { "aria-describedby": `${id}-note` })}
      />
      <div className="min-w-0">
        <label htmlFor={id} className="font-medium break-words before:absolute before:inset-0">
          {title}
        </label>
        {children === undefined ? null : (
          <p id={`${id}-note`} className="text-[0.93rem] text-soft">
            {children}
          </p>
        )}
      </div>
    </div>
  );
}
