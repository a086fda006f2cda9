import type { Random } from '@relay/testbed/random';
import { RelayError } from '../../domain/relay-error.ts';
import type { SimProcess, VirtualTime } from './virtual-time.fixture.ts';

/** A server of the deployment, as its clients meet it. */
export interface SimServer {
  readonly name: string;
  state: 'up' | 'frozen' | 'down';
  /** Calls that arrived while it was frozen. They run when it thaws, whether or not their callers still wait. */
  backlog: (() => void)[];
  /** Chance, in a hundred, that a call fails before it runs, and that it runs and its answer is lost. */
  failsBefore: number;
  losesAnswers: number;
}

/** What a process and a server say to each other. One direction can fail without the other. */
export interface Link {
  call<T>(what: string, work: () => T | Promise<T>): Promise<T>;
  /** From the server, unasked. Returns false when it was lost. */
  tell(what: string, heard: () => void): boolean;
  cutToServer: boolean;
  cutToProcess: boolean;
  /** Added to every message. */
  slowMs: number;
  /** Messages to the process were lost while this was set. */
  hasLost: boolean;
}

interface LinkDeps {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly process: SimProcess;
  readonly server: SimServer;
  readonly timeoutMs: number;
  /** One connection: nothing overtakes what was sent before it. */
  readonly inOrder: boolean;
}

/** As `redis-node.ts` and the database pool have them. */
export const COMMAND_TIMEOUT_MS = 250;
export const STATEMENT_TIMEOUT_MS = 5_000;
const DELAY_US_MAX = 1_500;

export function createServer(name: string): SimServer {
  return { name, state: 'up', backlog: [], failsBefore: 0, losesAnswers: 0 };
}

export function thawServer(server: SimServer): void {
  server.state = 'up';
  for (const run of server.backlog.splice(0)) run();
}

export function createLink(deps: LinkDeps): Link {
  const { time, random, process, server } = deps;
  let lastToServerMs = 0;
  let lastToProcessMs = 0;
  const chance = (percent: number) => percent > 0 && random.integer(1, 100) <= percent;

  function delayFrom(lastMs: number): number {
    const delayMs = random.integer(50, DELAY_US_MAX) / 1_000 + link.slowMs;
    return deps.inOrder ? Math.max(delayMs, lastMs - time.nowMs()) : delayMs;
  }

  /** To the process. */
  function send(what: string, heard: () => void): void {
    const delayMs = delayFrom(lastToProcessMs);
    lastToProcessMs = time.nowMs() + delayMs;
    time.after(delayMs, process, what, heard);
  }

  function call<T>(what: string, work: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const fail = (why: string) => reject(new RelayError('store_unavailable', { internal: why }));
      const deadline = time.after(deps.timeoutMs, process, `${what} timed out`, () => fail('no answer'));
      const reply = (how: string, settle: () => void) => {
        if (link.cutToProcess || chance(server.losesAnswers)) {
          link.hasLost = true;
          return;
        }
        send(`${server.name} ${how} ${what}`, () => {
          deadline.cancel();
          settle();
        });
      };
      const run = async () => {
        if (chance(server.failsBefore)) return reply('fails', () => fail('it fails'));
        try {
          const result = await work();
          reply('answers', () => resolve(result));
        } catch (error) {
          reply('refuses', () => reject(error));
        }
      };
      if (link.cutToServer) return;
      const delayMs = delayFrom(lastToServerMs);
      lastToServerMs = time.nowMs() + delayMs;
      time.after(delayMs, null, `${server.name} gets ${what} of ${process.name}`, () => {
        if (server.state === 'up') void run();
        else if (server.state === 'frozen') server.backlog.push(() => void run());
        else reply('is down for', () => fail('connection refused'));
      });
    });
  }

  const link: Link = {
    call,
    tell(what, heard) {
      if (link.cutToProcess || server.state !== 'up') {
        link.hasLost = true;
        return false;
      }
      send(`${server.name} tells ${what}`, heard);
      return true;
    },
    cutToServer: false,
    cutToProcess: false,
    slowMs: 0,
    hasLost: false,
  };
  return link;
}
