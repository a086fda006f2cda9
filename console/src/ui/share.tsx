import { formatShare } from '../format/numbers.ts';
import { Meter } from './meter.tsx';

/** A part of the total, as a bar and in percent. */
export function Share({ share }: { readonly share: number }) {
  return (
    <span className="flex items-center justify-end gap-3">
      <Meter share={share} className="w-28 max-sm:hidden" />
      <span className="w-12">{formatShare(share)}</span>
    </span>
  );
}
