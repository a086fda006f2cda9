export type VariablePresence = 'always' | 'servers' | 'maybe';

/** One variable. `parse` throws with a message that says what the value must be. */
export interface Variable<T, Presence extends VariablePresence> {
  readonly description: string;
  /** The default, as it would be written in the environment; null without one. */
  readonly fallback: string | null;
  /** `always`: required, or with a default. `servers`: required unless stores are embedded. `maybe`: null when not set. */
  readonly presence: Presence;
  readonly parse: (text: string) => T;
}

export function required<T>(parse: (text: string) => T, description: string): Variable<T, 'always'> {
  return { parse, description, fallback: null, presence: 'always' };
}

export function forServers<T>(parse: (text: string) => T, description: string): Variable<T, 'servers'> {
  return { parse, description, fallback: null, presence: 'servers' };
}

export function optional<T>(parse: (text: string) => T, description: string): Variable<T, 'maybe'> {
  return { parse, description, fallback: null, presence: 'maybe' };
}

export function withDefault<T>(
  parse: (text: string) => T,
  fallback: string,
  description: string,
): Variable<T, 'always'> {
  return { parse, description, fallback, presence: 'always' };
}
