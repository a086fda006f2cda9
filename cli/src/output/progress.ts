import type { Surroundings } from '../kit/surroundings.ts';

const SHOWN_AFTER_MS = 300;
const FRAME_MS = 100;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const CLEAR_LINE = '\r\u001b[K';

type Screen = Pick<Surroundings, 'stderr'>;

/** Shows a spinner on a terminal after a short delay. */
export async function waitingFor<T>({ stderr }: Screen, what: string, work: Promise<T>): Promise<T> {
  if (!stderr.isTTY) return work;
  let frame = 0;
  let isShown = false;
  let timer = setTimeout(function show() {
    isShown = true;
    stderr.write(`${CLEAR_LINE}${FRAMES[frame % FRAMES.length]} ${what}`);
    frame += 1;
    timer = setTimeout(show, FRAME_MS);
  }, SHOWN_AFTER_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    if (isShown) stderr.write(CLEAR_LINE);
  }
}

export interface Bar {
  advance(done: number): void;
  end(): void;
}

const BAR_WIDTH = 30;

/** A progress bar on a terminal, nothing elsewhere. */
export function startBar({ stderr }: Screen, what: string, total: number): Bar {
  if (!stderr.isTTY) return { advance: () => undefined, end: () => undefined };
  let shownAt = -1;
  return {
    advance(done) {
      const filled = Math.floor((Math.min(done, total) / total) * BAR_WIDTH);
      if (filled === shownAt && done < total) return;
      shownAt = filled;
      const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
      stderr.write(`${CLEAR_LINE}${what} ${bar} ${done}/${total}`);
    },
    end: () => void stderr.write(CLEAR_LINE),
  };
}
