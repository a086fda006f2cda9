import { formatDuration } from '../format/numbers.ts';
import { text } from '../text/index.ts';
import { Plate } from '../ui/plate.tsx';
import { useNow } from '../ui/use-now.ts';

const TICK_MS = 200;
/** Tenths below ten seconds, whole seconds above. */
const TENTHS_BELOW_MS = 10_000;

interface SlotPlateProps {
  /** By this browser's clock. */
  readonly atMs: number;
  /** Stands still: it shows the time that was left then. */
  readonly stillAtMs?: number | undefined;
}

/** Counts down to the next slot of a queue. */
export function SlotPlate({ atMs, stillAtMs }: SlotPlateProps) {
  const nowMs = useNow(TICK_MS);
  const leftMs = Math.max(0, atMs - (stillAtMs ?? nowMs));
  const stepMs = leftMs < TENTHS_BELOW_MS ? 100 : 1_000;
  const shownMs = Math.round(leftMs / stepMs) * stepMs;
  return <Plate>{shownMs === 0 ? text.shell.totals.slotNow : formatDuration(shownMs)}</Plate>;
}
