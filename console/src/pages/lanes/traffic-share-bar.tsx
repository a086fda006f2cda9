import { formatShare } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import type { TrafficShare } from './traffic-shares.ts';

const words = text.lanes.editor;

/** Which endpoint got how much of the lane's requests. A part that is too narrow for its words keeps them for screen readers and on hover. */
export function TrafficShareBar({ shares, label }: TrafficShareBarProps) {
  return (
    <ul aria-label={label} className="flex h-[22px] gap-0.5">
      {shares.map(({ endpointId, name, requests, share }) => {
        const shown = endpointId === null ? text.charts.other : name;
        const percent = formatShare(share);
        return (
          <li
            key={endpointId ?? ''}
            title={words.sharePart(shown, percent, requests)}
            style={{ flexGrow: share }}
            className="@container relative min-w-[3px] basis-0 overflow-hidden bg-served-soft text-xs leading-[22px] whitespace-nowrap first:bg-served first:font-medium"
          >
            <span className="flex gap-1.5 px-2 @max-[56px]:px-1">
              <span className="truncate @max-[92px]:sr-only">{shown}</span>{' '}
              <span className="@max-[36px]:sr-only">{percent}</span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

interface TrafficShareBarProps {
  readonly shares: readonly TrafficShare[];
  /** What of, and when. */
  readonly label: string;
}
