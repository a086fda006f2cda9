/** A label below a chart, at a share of its width. */
export interface AxisLabel {
  readonly name: 'start' | 'now' | 'reached' | 'end';
  readonly share: number;
}

/** Of the width: labels closer than this overlap. */
const GAP = 0.17;
/** Of the width: half of a label. */
const EDGE = 0.07;

/** The labels that fit beside each other. The moment when the limit is reached matters most, then the present, then the ends of the window. */
export function axisLabels(now: number, reached: number | null): readonly AxisLabel[] {
  const inside = (share: number) => Math.min(1 - EDGE, Math.max(EDGE, share));
  const middle: AxisLabel[] = reached === null ? [] : [{ name: 'reached', share: inside(reached) }];
  if (middle.every(({ share }) => Math.abs(share - inside(now)) >= GAP))
    middle.push({ name: 'now', share: inside(now) });
  const fits = (share: number) => middle.every((each) => Math.abs(each.share - share) >= GAP);
  const ends: AxisLabel[] = [
    { name: 'start', share: 0 },
    { name: 'end', share: 1 },
  ];
  return [...ends.filter(({ share }) => fits(share)), ...middle].toSorted((a, b) => a.share - b.share);
}
