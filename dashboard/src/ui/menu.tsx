import { Ellipsis } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

export interface MenuEntry {
  readonly id: string;
  readonly name: ReactNode;
  readonly icon?: ReactNode;
  readonly hint?: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** More classes, such as one that hides it on wide screens. */
  readonly className?: string;
  readonly act: () => void;
}

/** A button with three dots and the acts behind it. */
export function Menu({
  label,
  entries,
  small = false,
  className = "",
}: {
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly small?: boolean;
  readonly className?: string;
}) {
  const size = small ? "size-7" : "size-9";
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        aria-label={label}
        title={label}
        className={`inline-flex shrink-0 items-center justify-center rounded-md border border-line-strong/60 bg-surface text-soft hover:bg-sunken hover:text-ink ${size} ${className}`}
      >
        <Ellipsis aria-hidden className="size-4" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-40 max-h-[70dvh] min-w-48 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-xl"
        >
          {entries.map(({ id, name, icon, hint, isDangerous, isDisabled, className: more = "", act }) => (
            <DropdownMenu.Item
              key={id}
              disabled={isDisabled === true}
              title={hint}
              onSelect={act}
              className={`flex cursor-pointer items-center gap-2 rounded-md px-2.5 py-1.5 outline-none select-none data-[disabled]:cursor-not-allowed data-[disabled]:opacity-55 data-[highlighted]:bg-sunken ${isDangerous ? "text-bad" : ""} ${more}`}
            >
              {icon}
              {name}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
