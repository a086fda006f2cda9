import { counted } from './count.ts';
import { dollarWords } from './money.ts';

const NOUNS = { requests: 'request', tokens: 'token', concurrency: 'concurrent request' } as const;
type Metric = keyof typeof NOUNS | 'spend';

/** What the words need of a limit. */
interface LimitRule {
  readonly metric: Metric;
  readonly period: string;
  readonly limit_value: number;
}

/** "100 requests per minute", "$50.00 per day", "4 concurrent requests". */
export function limitRuleWords({ metric, period, limit_value }: LimitRule): string {
  const amount = limitAmountWords(metric, limit_value);
  return period === 'none' ? amount : `${amount} per ${period}`;
}

/** An amount of what a limit counts: "100 requests", "$50.00". */
export function limitAmountWords(metric: Metric, amount: number): string {
  return metric === 'spend' ? dollarWords(amount) : counted(amount, NOUNS[metric]);
}
