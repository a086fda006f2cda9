interface SparklineProps {
  /** Oldest first. */
  readonly values: readonly number[];
  readonly className?: string;
}

const WIDTH = 72;
const HEIGHT = 20;

/** The shape of a number over time. Its number stands beside it. */
export function Sparkline({ values, className = 'text-ink-soft' }: SparklineProps) {
  if (values.length < 2) return null;
  const top = Math.max(...values, 1);
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - 1 - (value / top) * (HEIGHT - 3)).toFixed(1)}`;
  });
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      className={`shrink-0 ${className}`}
    >
      <path
        d={`M0,${HEIGHT} L${points.join(' L')} L${WIDTH},${HEIGHT}Z`}
        fill="currentColor"
        opacity="0.13"
      />
      <path
        d={`M${points.join(' L')}`}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.25"
        strokeLinejoin="round"
      />
    </svg>
  );
}
