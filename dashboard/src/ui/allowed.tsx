import { Lock } from "lucide-react";
import { useSession } from "../session.tsx";
import { TEXT } from "../text.ts";
import { Button, type ButtonProps } from "./button.tsx";

/** A button for what needs a permission. Without it, it can't be pressed and says which one is missing. */
export function AllowedButton({ permission, ...rest }: ButtonProps & { readonly permission: string }) {
  const isAllowed = useSession().may(permission);
  return (
    <Button
      {...rest}
      disabled={!isAllowed || rest.disabled === true}
      title={isAllowed ? rest.title : TEXT.dialog.may(permission)}
    />
  );
}

/** Says once on a page that somebody may look and not act, and what they would need. */
export function LookOnly({ permission }: { readonly permission: string }) {
  if (useSession().may(permission)) return null;
  return (
    <p className="mb-4 flex items-center gap-2 rounded-md bg-calm-soft px-3 py-2 text-soft">
      <Lock aria-hidden className="size-4 shrink-0" />
      {TEXT.allowed.look(permission)}
    </p>
  );
}
