import { useState } from "react";
import { command } from "../../acts/act.ts";
import { ActDialog } from "../../acts/act-dialog.tsx";
import { client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { TextField } from "../../ui/field.tsx";
import { type Budget, MANAGE_COST, type Price, readAmount } from "./cost-acts.ts";

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const useForm = <F extends Readonly<Record<string, string>>>(first: F) => {
  const [form, setForm] = useState<F>(first);
  const field = (
    key: keyof F & string,
    label: string,
    more: { hint?: string; problem?: string | undefined } = {},
  ) => (
    <TextField
      label={label}
      {...more}
      value={form[key]}
      onChange={(event) => setForm({ ...form, [key]: event.target.value })}
    />
  );
  return { form, field };
};

const given = (flag: string, text: string): string[] => (text.trim() === "" ? [] : [flag, text.trim()]);
const bad = (text: string, amount: number | null): string | undefined =>
  text.trim() !== "" && amount === null ? TEXT.budgets.form.badAmount : undefined;

/** Sets a budget of each month, or changes it. */
export function BudgetDialog({ budget, onClose, onDone }: DialogProps & { readonly budget?: Budget }) {
  const T = TEXT.budgets.form;
  const { form, field } = useForm({
    name: budget?.name ?? "",
    usd: budget ? String(budget.usd) : "",
    label: budget?.label ?? "",
    workflow: budget?.workflow ?? "",
  });
  const [name, label, workflow] = [form.name.trim(), form.label.trim(), form.workflow.trim()];
  const usd = readAmount(form.usd, 0.01);
  const isLabel = label === "" || /^[^=]+=/.test(label);
  const act = {
    title: budget ? T.editing(budget.name) : T.title,
    effect: T.effect,
    verb: T.verb,
    reasons: T.reasons,
    permission: MANAGE_COST,
    isReady: name !== "" && usd !== null && isLabel,
    cli: (reason: string) =>
      command(
        ["budgets", "set", name || "<budget>", "--usd", form.usd.trim() || "<amount>"].concat(
          given("--label", label),
          given("--workflow", workflow),
        ),
        reason,
      ),
    perform: (reason: string) =>
      client.setBudget({
        name,
        usd: usd ?? 0,
        reason,
        ...(label === "" ? {} : { label }),
        ...(workflow === "" ? {} : { workflow }),
      }),
  };
  return (
    <ActDialog act={act} onClose={onClose} onDone={onDone}>
      {budget ? null : field("name", T.name)}
      {field("usd", T.usd, { problem: bad(form.usd, usd) })}
      {field("label", T.label, { hint: T.labelHint, problem: isLabel ? undefined : T.labelHint })}
      {field("workflow", T.workflow)}
    </ActDialog>
  );
}

/** Sets what a model costs from a date on. */
export function PriceDialog({ price, onClose, onDone }: DialogProps & { readonly price?: Price }) {
  const T = TEXT.prices.form;
  const { form, field } = useForm({
    model: price?.model ?? "",
    input: price ? String(price.input) : "",
    output: price ? String(price.output) : "",
    source: "",
    from: "",
  });
  const [model, source] = [form.model.trim(), form.source.trim()];
  const [input, output] = [readAmount(form.input), readAmount(form.output)];
  const from = form.from.trim() === "" ? undefined : Date.parse(form.from.trim());
  const isDate = from === undefined || !Number.isNaN(from);
  const act = {
    title: price ? T.editing(price.model) : T.title,
    effect: T.effect,
    verb: T.verb,
    reasons: T.reasons,
    permission: MANAGE_COST,
    isReady: model !== "" && source !== "" && input !== null && output !== null && isDate,
    cli: (reason: string) =>
      command(
        ["prices", "set", model || "<model>"].concat(
          given("--input", form.input),
          given("--output", form.output),
          given("--source", source),
          given("--from", form.from),
        ),
        reason,
      ),
    perform: (reason: string) =>
      client.setPrice({
        model,
        input: input ?? 0,
        output: output ?? 0,
        source,
        reason,
        ...(from === undefined ? {} : { from }),
      }),
  };
  return (
    <ActDialog act={act} onClose={onClose} onDone={onDone}>
      {price ? null : field("model", T.model)}
      <div className="grid grid-cols-2 gap-4">
        {field("input", T.input, { problem: bad(form.input, input) })}
        {field("output", T.output, { problem: bad(form.output, output) })}
      </div>
      {field("source", T.source, { hint: T.sourceHint })}
      {field("from", T.from, { hint: T.fromHint, problem: isDate ? undefined : T.fromHint })}
    </ActDialog>
  );
}
