import { text } from '../text/index.ts';

/** Says that an endpoint has no price, and on hover what follows from it. */
export function NoPrice() {
  return (
    <span className="whitespace-nowrap text-ink-faint" title={text.endpoints.unpricedHint}>
      {text.unpriced.noPrice}
    </span>
  );
}
