/** Text of all charts. */
export const chartsText = {
  asTable: 'Table',
  asChart: 'Chart',
  asTableOf: (title: string) => `Table of ${title}`,
  asChartOf: (title: string) => `Chart of ${title}`,
  other: 'Other',
  total: 'Total',
  nothing: 'No data in this time range.',
  series: 'Series',
  notDrawn: (count: string) => `${count} more not shown`,
  time: 'Time (UTC)',
  utcDays: 'Days (UTC)',
  empty: '—',
  /** How to use the chart with a screen reader. */
  keys: (title: string, unit: string) =>
    `${title} (${unit}). Use the arrow keys to move through time. The table has the same values.`,
} as const;
