const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** The time of day to the second, for what has just happened: "14:03:27". */
export function formatClock(at: string): string {
  return clock.format(new Date(at));
}
