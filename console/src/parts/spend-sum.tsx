import { formatMoney } from '../format/numbers.ts';
import { text } from '../text/index.ts';

interface SpendSumProps {
  /** Null if none of the requests has a price. */
  readonly micros: number | null;
  /** Shown on hover, with every digit. */
  readonly usd?: string | null;
  readonly unpriced: number;
  readonly format?: (micros: number) => string;
}

/** A spend, as far as it is known, and how many requests it leaves out. */
export function SpendSum({ micros, usd, unpriced, format = formatMoney }: SpendSumProps) {
  if (micros === null) return <NoSpend />;
  return (
    <>
      <span {...(usd != null && { title: `$${usd}` })}>{format(micros)}</span>
      {unpriced === 0 ? null : (
        <span className="block text-xs font-normal text-ink-faint" title={text.unpriced.excludesHint}>
          {text.unpriced.excludes(unpriced)}
        </span>
      )}
    </>
  );
}

export function NoSpend() {
  return (
    <span className="whitespace-nowrap text-ink-faint" title={text.unpriced.noPriceHint}>
      {text.unpriced.noPrice}
    </span>
  );
}
