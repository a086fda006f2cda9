import { formatDay } from '../../format/times.ts';
import { text } from '../../text/index.ts';
import { Segments } from '../../ui/segments.tsx';

const words = text.keys;
const DAY_MS = 86_400_000;

const EXPIRIES = ['days7', 'days30', 'days90', 'year', 'never'] as const;
export type Expiry = (typeof EXPIRIES)[number];
const DAYS: Record<Expiry, number | null> = { days7: 7, days30: 30, days90: 90, year: 365, never: null };

/** Null for a key that does not expire. */
export function expiresAtOf(expiry: Expiry): string | null {
  const days = DAYS[expiry];
  return days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString();
}

interface ExpiryFieldProps {
  readonly value: Expiry;
  readonly onChange: (expiry: Expiry) => void;
}

export function ExpiryField({ value, onChange }: ExpiryFieldProps) {
  const at = expiresAtOf(value);
  return (
    <div>
      <p aria-hidden className="mb-[5px] text-xs font-medium">
        {words.expires}
      </p>
      <Segments
        fill
        label={words.expires}
        value={value}
        options={EXPIRIES.map((expiry) => ({ value: expiry, label: words.expiries[expiry] }))}
        onChange={onChange}
      />
      <p className="mt-1.5 text-xs text-ink-faint">
        {at === null ? words.expiresNever : words.expiresAt(formatDay(at))}
      </p>
    </div>
  );
}
