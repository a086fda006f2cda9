import { counted, formatCount } from '../format/numbers.ts';

/** Prices of endpoints from a public price list. */
export const priceImportText = {
  open: 'Import prices',
  title: 'Import prices',
  description:
    'Compare your prices with LiteLLM’s model_prices_and_context_window.json, models.dev’s api.json or Relay’s list. Nothing changes until you apply.',
  choose: 'Choose file',
  catalog: 'Use Relay’s list',
  unreadable: 'The browser can’t read this file. Choose it again, or choose another file.',
  notAList: 'This isn’t a LiteLLM or models.dev price list. Choose another file.',
  summary: (source: string, date: string) => `${source}, as of ${date}`,
  sources: {
    litellm: 'LiteLLM',
    models_dev: 'models.dev',
    catalog: 'Relay’s list',
    manual: 'set manually',
  } as Readonly<Record<string, string>>,
  plan: 'Plan',
  actions: {
    add: 'Added',
    change: 'Changed',
    same: 'Unchanged',
    removed: 'No longer listed',
    ambiguous: 'Ambiguous',
    unlisted: 'Not listed',
  },
  heldBack: 'Held back',
  heldBackZero: 'The new price is $0.',
  heldBackFactor: (factor: string) => `A price changes to ${factor} times the old price.`,
  accept: (endpoint: string) => `Apply price of ${endpoint} anyway`,
  file: 'Managed by file; unchanged.',
  removed: 'No longer listed. Relay keeps the price.',
  ambiguous: (entries: string) => `Several entries match: ${entries}. Set the price yourself.`,
  others: (same: number, unlisted: number) =>
    `${formatCount(same)} unchanged, ${formatCount(unlisted)} not in the list.`,
  variants: 'Prices by prompt length or service tier',
  none: 'none',
  context: (tokens: string) => `Context window: ${tokens} tokens`,
  apply: (count: number) => `Apply ${counted(count, 'price')}`,
  applied: (count: number) => `${counted(count, 'price')} set`,
  nothing: 'No price changes.',
} as const;
