/** What every chart says. */
export const chartsText = {
  asTable: 'Table',
  asChart: 'Chart',
  asTableOf: (title: string) => `Table of ${title}`,
  asChartOf: (title: string) => `Chart of ${title}`,
  other: 'Other',
  total: 'Total',
  nothing: 'Nothing in this time range.',
  series: 'Series',
  notDrawn: (count: string) => `${count} more are not drawn.`,
  time: 'Time',
  localTime: (zone: string) => `Time (${zone})`,
  utcDays: 'Days (UTC)',
  empty: '–',
  /** How the chart is used, for those who hear it. */
  keys: (title: string, unit: string) =>
    `${title}, in ${unit}. Arrow keys go through time. The same numbers are in the table.`,
} as const;
