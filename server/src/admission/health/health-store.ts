import type { Clock } from '../../kit/clock.ts';

/** Where the gateways of a deployment keep what they have seen. Values are texts that only `report-health.ts` reads. */
export interface HealthStore {
  /** In the given order; null for a subject that nothing is stored of. */
  read(organizationId: string, subjects: readonly string[]): Promise<(string | null)[]>;
  /** Stores `after` if `before` is still stored. Otherwise stores nothing and returns what is. */
  replace(
    organizationId: string,
    subject: string,
    before: string | null,
    after: string,
  ): Promise<{ readonly replaced: true } | { readonly replaced: false; readonly stored: string | null }>;
  /** True for one caller of the whole deployment, until the time has passed. */
  claimProbe(organizationId: string, subject: string, forMs: number): Promise<boolean>;
  /** Tells all gateways. A message can get lost. */
  announce(message: HealthMessage): void;
  subscribe(listener: (message: HealthMessage) => void): Promise<() => Promise<void>>;
}

export interface HealthMessage {
  readonly organizationId: string;
  readonly subject: string;
  /** As stored. */
  readonly text: string;
}

/** How long a record is kept after its last change. */
export const KEPT_MS = 15 * 60_000;
const SUBJECTS_MAX = 20_000;

/** For a deployment of one process. */
export function createMemoryHealthStore({ clock }: { clock: Clock }): HealthStore {
  const texts = new Map<string, { text: string; untilMs: number }>();
  const claims = new Map<string, number>();

  function storedOf(subject: string): string | null {
    const found = texts.get(subject);
    return found !== undefined && found.untilMs > clock.nowMs() ? found.text : null;
  }

  return {
    read: async (_organizationId, subjects) => subjects.map(storedOf),
    async replace(_organizationId, subject, before, after) {
      const stored = storedOf(subject);
      if (stored !== before) return { replaced: false, stored };
      texts.delete(subject);
      texts.set(subject, { text: after, untilMs: clock.nowMs() + KEPT_MS });
      // In order of their last change.
      const oldest = texts.size > SUBJECTS_MAX ? texts.keys().next().value : undefined;
      if (oldest !== undefined) texts.delete(oldest);
      return { replaced: true };
    },
    async claimProbe(_organizationId, subject, forMs) {
      const nowMs = clock.nowMs();
      for (const [claimed, untilMs] of claims) if (untilMs <= nowMs) claims.delete(claimed);
      if (claims.has(subject)) return false;
      claims.set(subject, nowMs + forMs);
      return true;
    },
    // There is no other process.
    announce: () => undefined,
    subscribe: async () => async () => undefined,
  };
}
