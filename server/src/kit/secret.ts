import { inspect } from 'node:util';

const REDACTED = '[secret]';

/**
 * A value that must not get into a log, an error message or a response by accident: every implicit conversion to text gives a
 * placeholder, and only `reveal()` gives the value.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
