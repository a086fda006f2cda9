import type { Started } from '../address/started.ts';

/** What the palette offers: a place or an action. */
export interface Target {
  /** Unique in the palette. */
  readonly value: string;
  readonly label: string;
  /** What tells it from others of the same name: a model, a prefix, an email address. */
  readonly note?: string;
  /** What it is, where another kind can have the same name. */
  readonly kind?: string;
  /** Other words that find it. */
  readonly aliases?: string;
  /** The page that it opens; without one, `run` does something here. */
  readonly to?: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly started?: Started;
  readonly run?: () => void;
}
