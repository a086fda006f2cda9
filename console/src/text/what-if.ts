import { counted, formatCount } from '../format/numbers.ts';

/** The what-if panels of the editors. */
export const whatIfText = {
  title: 'What-if',
  hint: 'Replays the last 7 days of requests with this edit. Nothing is saved or sent.',
  incomplete: 'Complete the form to run a replay.',
  run: 'Replay 7 days',
  again: 'Replay again',
  running: 'Replaying the last 7 days…',
  runningHint: 'This takes up to 20 s. If another replay is running, this one starts after it.',
  cancel: 'Cancel replay',
  outdated: 'You made more changes after this replay. Replay again.',
  busy: 'Too many replays are running in this organization. Try again when one of them ends.',
  noRequests: 'No requests in the last 7 days, so there is nothing to replay.',
  leftOut: (count: number) =>
    `No requests from the last 7 days can be replayed. ${counted(count, 'request')} ended before the limit check.`,
  noneToLane: (name: string) =>
    `No requests to lane ${name} in the last 7 days, so there is nothing to replay for it.`,
  replayed: (count: number) => `${counted(count, 'request')}, last 7 days`,
  replayedTo: (count: number, lane: string) => `${counted(count, 'request')} to lane ${lane}, last 7 days`,
  replayedOfLimit: (count: number) => `${counted(count, 'request')} that this limit applies to, last 7 days`,
  noneOfLimit:
    'No requests that this limit applies to in the last 7 days, so there is nothing to replay for it.',
  cut: {
    requests: (count: string, from: string) => `Covers the ${count} most recent requests, since ${from}.`,
    time: (to: string) => `The replay reached its limit of 20 s. It covers requests until ${to}.`,
  },
  figures: 'Replayed metrics with the current settings and with your edits',
  columns: {
    figure: 'Metric',
    current: 'Current settings',
    edited: 'With your edits',
    difference: 'Difference',
  },
  rows: {
    rejected: 'Rejected',
    waited: 'Served after waiting',
    waitP50: 'Wait (p50)',
    waitP95: 'Wait (p95)',
    fallbacks: 'Fallbacks',
    spend: 'Spend',
  },
  countOf: (count: string, all: string) => `${count} of ${all}`,
  compared: (replayed: number, recorded: number) =>
    `Both columns are replays. Current settings reject ${counted(replayed, 'request')} in the replay; Relay rejected ${formatCount(recorded)} when they were sent. A replay knows arrivals, durations and today’s settings only: a limit can be newer than a request, and timing differs by milliseconds. Wait percentiles cover all served requests.`,
  comparedSame: (recorded: number) =>
    `Both columns are replays. Current settings reject as many requests as Relay did when they were sent: ${formatCount(recorded)}. Wait percentiles cover all served requests.`,
  rejecting: 'Rejecting with your edits',
  stillRejecting: 'Still rejecting with your edits',
  unpriced: (count: number) => `Spend excludes ${counted(count, 'request')} at endpoints without a price.`,
  lanes: 'Affected lanes',
  otherLanes: 'Other affected lanes',
  keys: 'Affected keys',
  limits: 'Affected limits',
  endpoints: 'Affected endpoints',
  key: (name: string) => `Key ${name}`,
  member: (name: string) => `Member ${name}`,
  more: (count: number) => `and ${count} more`,
  rejections: (count: number) => counted(Math.abs(count), `${count > 0 ? 'more' : 'fewer'} rejection`),
  requests: (count: number) => counted(Math.abs(count), `${count > 0 ? 'more' : 'fewer'} request`),
  waits: (count: number) =>
    counted(
      Math.abs(count),
      `${count > 0 ? 'more' : 'fewer'} request waits`,
      `${count > 0 ? 'more' : 'fewer'} requests wait`,
    ),
  waitTime: (difference: string) => `${difference} waiting`,
  spend: (difference: string) => `${difference} spend`,
  unknown: 'unknown',
  newLimit: 'new',
  wasLimit: (amount: string) => `${amount} now`,
  removedLimit: 'not enforced',
} as const;
