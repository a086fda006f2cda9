import type { AlertMessage } from '@relay/contract';
import { capitalized, limitAmountWords } from '@relay/contract/words';
import type { AlertNote } from '../domain/alert-message.ts';
import type { Letter } from '../mail/letter.ts';
import { alertLetter, timeText } from '../mail/letters.ts';

/** `subject`: see `limitSubject`. */
export function alertLetterOf(to: string, message: AlertNote, subject: string, publicUrl: string): Letter {
  const link = {
    organization: message.organization.name,
    alertsUrl: new URL('/console/alerts', publicUrl).href,
  };
  if (message.type === 'alert.test')
    return alertLetter({
      to,
      headline: 'Test alert',
      lines: ['This is a test. Relay will send limit alerts to this address.'],
      ...link,
    });
  const { policy, window, used, limit, threshold_percent, forecast_exhausted_at } = message;
  const amount = (value: number) => limitAmountWords(policy.metric, value);
  const name = `${WINDOWS[policy.period]} limit`;
  const what = `The ${name} of ${amount(limit)}${subject}`;
  const title = capitalized(name);
  const timeOf = (at: string) => timeText(new Date(at));
  return alertLetter({
    to,
    headline:
      threshold_percent === null
        ? `${title} will be reached before it resets`
        : `${title} is ${threshold_percent}% used`,
    lines: [
      forecast_exhausted_at === null
        ? `${what} is ${threshold_percent}% used.`
        : `${what} will be reached on ${timeOf(forecast_exhausted_at)} if usage continues at this rate.`,
      `Used: ${amount(used)} of ${amount(limit)}\nWindow: ${timeOf(window.start)} to ${timeOf(window.end)}`,
    ],
    ...link,
  });
}

const WINDOWS: Readonly<Record<AlertMessage['policy']['period'], string>> = {
  second: 'per-second',
  minute: 'per-minute',
  hour: 'hourly',
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  none: 'concurrency',
};
