interface Event {
  readonly atMs: number;
  /** Events of the same moment run in the order in which they were added. */
  readonly seq: number;
  readonly run: () => Promise<void>;
}

/** What happens later in a replay, first things first. */
export interface EventQueue {
  add(atMs: number, run: Event['run']): void;
  /** When the first event is due; infinite when there is none. */
  nextMs(): number;
  take(): Event | undefined;
}

/** A binary heap: a replay of 100,000 requests adds and takes each of them. */
export function createEventQueue(): EventQueue {
  const heap: Event[] = [];
  let lastSeq = 0;

  function swap(a: number, b: number): void {
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return;
    heap[a] = other;
    heap[b] = one;
  }

  function isBefore(a: number, b: number): boolean {
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined) return false;
    if (other === undefined) return true;
    return one.atMs === other.atMs ? one.seq < other.seq : one.atMs < other.atMs;
  }

  return {
    add(atMs, run) {
      lastSeq += 1;
      let place = heap.push({ atMs, seq: lastSeq, run }) - 1;
      while (place > 0) {
        const parent = (place - 1) >> 1;
        if (!isBefore(place, parent)) break;
        swap(place, parent);
        place = parent;
      }
    },
    nextMs: () => heap[0]?.atMs ?? Number.POSITIVE_INFINITY,
    take() {
      swap(0, heap.length - 1);
      const first = heap.pop();
      for (let place = 0; ; ) {
        const left = 2 * place + 1;
        const smaller = isBefore(left + 1, left) ? left + 1 : left;
        if (!isBefore(smaller, place)) return first;
        swap(place, smaller);
        place = smaller;
      }
    },
  };
}
