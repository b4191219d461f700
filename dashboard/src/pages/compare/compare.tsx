import { ArrowLeftRight } from "lucide-react";
import { useId, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { useApi } from "../../api/use-api.ts";
import { diffPath } from "../../checkpoints/marked.ts";
import { useKeys } from "../../keys.tsx";
import { TEXT } from "../../text.ts";
import { Button } from "../../ui/button.tsx";
import { CommandLine } from "../../ui/copy.tsx";
import { Empty, Loaded, Page } from "../../ui/page.tsx";
import { type Pair, readPair, splitAddress } from "./address.ts";
import { Differences } from "./differences.tsx";

const { compare: words } = TEXT;

/** Two checkpoints side by side, of one run or of two. */
export default function Compare() {
  const [, go] = useLocation();
  const pair = readPair(useSearch());
  const open = ({ from, to }: Pair): void => go(diffPath(from, to), { replace: true });
  const swap = (): void => open({ from: pair.to, to: pair.from });
  useKeys([{ keys: "s", name: words.swap, act: swap }]);
  return (
    <Page title={words.title} lead={words.lead}>
      <PairForm key={`${pair.from} ${pair.to}`} pair={pair} onPair={open} onSwap={swap} />
      {pair.from === "" || pair.to === "" ? <Start pair={pair} /> : <Compared pair={pair} />}
    </Page>
  );
}

function PairForm({
  pair,
  onPair,
  onSwap,
}: {
  readonly pair: Pair;
  readonly onPair: (pair: Pair) => void;
  readonly onSwap: () => void;
}) {
  const [from, setFrom] = useState(pair.from);
  const [to, setTo] = useState(pair.to);
  const isReady = from.trim() !== "" && to.trim() !== "";
  return (
    <form
      className="mb-5 flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onPair({ from: from.trim(), to: to.trim() });
      }}
    >
      <AddressField label={words.from} value={from} onChange={setFrom} />
      <Button aria-label={words.swap} title={words.swap} onClick={onSwap} className="px-2.5">
        <ArrowLeftRight aria-hidden className="size-4" />
      </Button>
      <AddressField label={words.to} value={to} onChange={setTo} />
      <Button type="submit" disabled={!isReady || (from === pair.from && to === pair.to)}>
        {words.act}
      </Button>
    </form>
  );
}

/** An address, with the newest checkpoints of its run to choose from. */
function AddressField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (address: string) => void;
}) {
  const id = useId();
  const { run } = splitAddress(value);
  const { data } = useApi("listCheckpoints", { run, limit: 50 }, { enabled: /^[\w-]{1,64}$/.test(run) });
  return (
    <label className="flex min-w-0 flex-1 basis-56 flex-col gap-0.5 text-[0.87rem] text-soft sm:max-w-96">
      {label}
      <input
        value={value}
        list={id}
        placeholder={words.placeholder}
        onChange={(event) => onChange(event.target.value)}
        className="w-full rounded-md border border-line-strong bg-surface px-3 py-1.5 font-mono text-ink"
      />
      <datalist id={id}>
        {data?.checkpoints.map(({ id: address, step, labels }) => (
          <option key={address} value={address}>
            {[step, ...labels].join(" · ")}
          </option>
        ))}
      </datalist>
    </label>
  );
}

/** Nothing to compare yet: how to get there. */
function Start({ pair }: { readonly pair: Pair }) {
  const { run } = splitAddress(pair.from === "" ? pair.to : pair.from);
  const { data } = useApi("listCheckpoints", { run, limit: 2 }, { enabled: /^[\w-]{1,64}$/.test(run) });
  return (
    <Empty title={data && data.checkpoints.length < 2 ? words.onlyOne : words.start}>
      <p>{data && data.checkpoints.length < 2 ? words.onlyOneNote : words.startNote}</p>
      <div className="mt-3 text-left">
        <CommandLine command={words.command} />
      </div>
    </Empty>
  );
}

function Compared({ pair }: { readonly pair: Pair }) {
  const query = useApi("diff", pair);
  const { run } = splitAddress(pair.from);
  const isOfOne = run === splitAddress(pair.to).run;
  const { data: known } = useApi("listCheckpoints", { run, limit: 2 }, { enabled: isOfOne });
  if (isOfOne && known && known.checkpoints.length < 2)
    return (
      <Empty title={words.onlyOne}>
        <p>{words.onlyOneNote}</p>
      </Empty>
    );
  return <Loaded query={query}>{(diff) => <Differences pair={pair} diff={diff} />}</Loaded>;
}
