import type { LiveTail } from '../../parts/use-live-tail.ts';
import { text } from '../../text/index.ts';
import type { Tone } from '../../ui/badge.tsx';
import { messageOf } from '../../ui/error-note.tsx';
import { Signal } from '../../ui/signal.tsx';
import { Switch } from '../../ui/switch.tsx';

const words = text.requests.live;

const TONES: Record<keyof typeof words.states, Tone> = {
  connecting: 'neutral',
  live: 'good',
  reconnecting: 'warn',
  paused: 'note',
  failed: 'bad',
};

interface LiveSwitchProps {
  readonly isOn: boolean;
  /** The time range ends in the past, so there are no new requests. */
  readonly isBlocked: boolean;
  readonly isPaused: boolean;
  readonly tail: LiveTail;
  readonly onChange: (isOn: boolean) => void;
}

/** Turns the live tail on and off, and shows its state. */
export function LiveSwitch({ isOn, isBlocked, isPaused, tail, onChange }: LiveSwitchProps) {
  const state = tail.state === 'live' && isPaused ? 'paused' : tail.state;
  const why = tail.error === null ? undefined : tail.state === 'failed' ? messageOf(tail.error) : words.lost;
  return (
    <span className="inline-flex h-8 items-center gap-2" title={isBlocked ? words.blocked : why}>
      <Switch checked={isOn && !isBlocked} disabled={isBlocked} onChange={onChange} label={words.switch} />
      {isOn && !isBlocked ? (
        <span role="status">
          <Signal tone={TONES[state]}>{words.states[state]}</Signal>
        </span>
      ) : (
        <span className="text-[13px] text-ink-soft">{words.switch}</span>
      )}
    </span>
  );
}
