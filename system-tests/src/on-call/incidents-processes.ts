import { execFileSync } from 'node:child_process';
import { selfHostedEnvironment, startPostgres } from '@relay/testbed';
import { fakeClock } from '../clocks/fake-clock.ts';
import { type RelayProcess, startRelay } from '../harness/relay-process.ts';
import { afterMs, until } from '../harness/until.ts';
import type { Incident } from './incident.ts';
import { NAMES, type Name, type Site } from './site.ts';

const READY_MS_MAX = 30_000;
/** A connection of a client breaks with the process that holds it. */
const CUT = /^(?:0|200|502|503) \w+$/;
const CLOCK = /Relay’s clock is [^"]+ ahead of/;

const common = { may: ['RelayClockSkew', 'RelayLedgerLag', 'RelayLedgerWorkerMissing'], never: [] } as const;

export const processIncidents: readonly Incident[] = [
  {
    ...common,
    name: 'a gateway is killed',
    breaks: (site) => killed(site, 'gateway2'),
    clients: CUT,
    tells: { alerts: ['RelayProcessDown'], healthz: { gateway2: /unreachable/ } },
  },
  {
    ...common,
    name: 'the platform is killed',
    breaks: (site) => killed(site, 'platform'),
    tells: { alerts: ['RelayProcessDown'], healthz: { platform: /unreachable/ } },
  },
  {
    ...common,
    name: 'the worker is killed',
    breaks: (site) => killed(site, 'worker'),
    tells: {
      alerts: ['RelayProcessDown', 'RelayLedgerWorkerMissing'],
      doctor: /no worker|No worker/,
      // Usually it is 6 s at most.
      home: /^complete until (?:1[5-9]|[2-9]\d|\d{3,}) s ago/,
    },
    never: [/The ledger is up to date/],
  },
  {
    ...common,
    name: 'both gateways are killed',
    async breaks(site) {
      const both = await Promise.all([killed(site, 'gateway1'), killed(site, 'gateway2')]);
      return { heals: () => Promise.all(both.map((each) => each.heals())) };
    },
    clients: CUT,
    tells: { alerts: ['RelayProcessDown'], healthz: { gateway1: /unreachable/, gateway2: /unreachable/ } },
  },
  {
    ...common,
    name: 'every process is killed',
    async breaks(site) {
      const all = await Promise.all(NAMES.map((name) => killed(site, name)));
      return { heals: () => Promise.all(all.map((each) => each.heals())) };
    },
    clients: CUT,
    tells: { alerts: ['RelayAbsent', 'RelayProcessDown'] },
  },
  {
    ...common,
    name: 'a gateway is frozen',
    breaks: (site) => frozen(site, 'gateway2'),
    clients: CUT,
    tells: { alerts: ['RelayProcessDown'], healthz: { gateway2: /unreachable/ } },
  },
  {
    ...common,
    name: 'the worker is frozen',
    breaks: (site) => frozen(site, 'worker'),
    tells: { alerts: ['RelayProcessDown'], healthz: { worker: /unreachable/ } },
  },
  {
    ...common,
    name: 'the event loop of a gateway is blocked again and again',
    async breaks({ processes }) {
      const { pid } = processes.gateway2;
      let isBlocked = true;
      const blocking = (async () => {
        while (isBlocked) {
          process.kill(pid, 'SIGSTOP');
          await afterMs(450);
          process.kill(pid, 'SIGCONT');
          await afterMs(250);
        }
      })();
      return {
        async heals() {
          isBlocked = false;
          await blocking;
        },
      };
    },
    clients: CUT,
    tells: { alerts: ['RelayEventLoopDelay'] },
  },
  {
    ...common,
    name: 'a gateway runs out of file descriptors',
    async breaks({ processes }) {
      const { pid } = processes.gateway2;
      // The soft limit: who lowers the other one may not raise it again.
      const limit = (files: string) => execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${files}:`]);
      const asked = ['--nofile', '--noheadings', '--output=SOFT', `--pid=${pid}`];
      const before = execFileSync('prlimit', asked, { encoding: 'utf8' }).trim();
      const open = Number(execFileSync('sh', ['-c', `ls /proc/${pid}/fd | wc -l`], { encoding: 'utf8' }));
      limit(String(open + 8));
      return { heals: async () => limit(before) };
    },
    clients: CUT,
    tells: { alerts: ['RelayFileDescriptors'] },
  },
  {
    ...common,
    name: 'a gateway has too little memory',
    async breaks(site) {
      await site.processes.gateway2.kill();
      const starting = site.start('gateway2', {}, ['--max-old-space-size=24']).catch(() => undefined);
      await starting;
      return { heals: () => again(site, 'gateway2') };
    },
    clients: CUT,
    tells: { alerts: ['RelayProcessDown'] },
  },
  ...(['gateway2', 'platform', 'worker'] as const).map(
    (name): Incident => ({
      ...common,
      name: `the clock of ${name} jumps an hour ahead`,
      async breaks(site) {
        await site.processes[name].stop();
        await site.start(name, fakeClock('+3600s'));
        return { heals: () => again(site, name) };
      },
      clients: CUT,
      tells: { alerts: ['RelayClockSkew'], readyz: { [name]: /^503 .*clock/ }, healthz: { [name]: CLOCK } },
    }),
  ),
  {
    ...common,
    name: 'the gateways restart one after the other',
    async breaks(site) {
      await again(site, 'gateway1');
      await again(site, 'gateway2');
      return { heals: async () => undefined };
    },
    tells: {},
  },
  {
    ...common,
    name: 'a gateway restarts while PostgreSQL is down',
    async breaks(site) {
      await site.links.postgres.refuse();
      await site.processes.gateway2.stop();
      const refusal = await site.start('gateway2').then(
        () => 'it started',
        (error: Error) => error.message,
      );
      return {
        refusal,
        async heals() {
          await site.links.postgres.heal();
          await again(site, 'gateway2');
        },
      };
    },
    clients: CUT,
    may: [...common.may, 'RelayStoreDown'],
    tells: { refusal: /PostgreSQL|DATABASE_URL|database/, alerts: ['RelayStoreDown', 'RelayProcessDown'] },
    never: [],
  },
  {
    ...common,
    name: 'the platform stops while PostgreSQL hangs',
    async breaks(site) {
      site.postgres.pause();
      const startMs = performance.now();
      const stopping = site.processes.platform.stop();
      const isOver = await Promise.race([stopping.then(() => true), afterMs(33_000).then(() => false)]);
      const refusal = isOver ? `ended` : `still there after ${Math.round(performance.now() - startMs)} ms`;
      return {
        refusal,
        async heals() {
          site.postgres.resume();
          await stopping;
          await site.start('platform');
        },
      };
    },
    may: [...common.may, 'RelayStoreDown'],
    tells: { refusal: /^ended$/ },
  },
];

/** Wrong secrets on each role: the process must refuse to start and name the variable. */
const SECRETS = ['RELAY_MASTER_KEY', 'RELAY_AUTH_SECRET', 'RELAY_API_TOKEN', 'RELAY_ADMIN_TOKEN'] as const;
const WRONG = 'd3JvbmctYnV0LWxvbmctZW5vdWdoLXNlY3JldC0wMDE=';

export const secretIncidents: readonly Incident[] = [
  ...(['gateway2', 'platform', 'worker'] as const).flatMap((name) =>
    SECRETS.map((variable): Incident => secretOf(name, variable)),
  ),
  {
    ...common,
    name: 'a second deployment uses the same Redis',
    breaks: secondDeployment,
    // It names both.
    tells: { refusal: /belongs to another deployment, \S+ .*; this one is \S+/ },
  },
  {
    ...common,
    name: 'all gateways start with another auth secret',
    breaks: (site) => refusedBy(site, ['gateway1', 'gateway2'], { RELAY_AUTH_SECRET: WRONG }),
    clients: CUT,
    tells: { refusal: /RELAY_AUTH_SECRET/ },
  },
];

function secretOf(name: Name, variable: string): Incident {
  return {
    ...common,
    name: `${name} starts with another ${variable}`,
    breaks: (site) => refusedBy(site, [name], { [variable]: WRONG }),
    clients: CUT,
    may: ['RelayProcessDown', 'RelayGatewayRefusing', 'RelayLedgerWorkerMissing', 'RelayKeysRejected'],
    tells: { refusal: new RegExp(variable) },
  };
}

async function secondDeployment(site: Site) {
  const other = await startPostgres({ migrated: true });
  const { env } = selfHostedEnvironment({ DATABASE_URL: other.url, REDIS_URL: site.redis.url });
  let started: RelayProcess | null = null;
  const refusal = await startRelay({ env }).then(
    (running) => {
      started = running;
      return 'it started';
    },
    (error: Error) => error.message,
  );
  return {
    refusal,
    async heals() {
      await (started as RelayProcess | null)?.kill();
      await other.remove();
    },
  };
}

async function refusedBy(site: Site, names: readonly Name[], wrong: Readonly<Record<string, string>>) {
  const said = await Promise.all(
    names.map(async (name) => {
      await site.processes[name].stop();
      return site.start(name, wrong).then(
        () => 'it started',
        (error: Error) => error.message,
      );
    }),
  );
  return {
    refusal: said.join('\n'),
    heals: () => Promise.all(names.map((name) => again(site, name))),
  };
}

async function killed(site: Site, name: Name) {
  await site.processes[name].kill();
  return { heals: () => again(site, name) };
}

async function frozen({ processes }: Site, name: Name) {
  const { pid } = processes[name];
  process.kill(pid, 'SIGSTOP');
  return {
    async heals() {
      process.kill(pid, 'SIGCONT');
    },
  };
}

/** At its address, with the deployment's own settings. */
async function again(site: Site, name: Name): Promise<void> {
  if (site.processes[name].isRunning) await site.processes[name].stop();
  await site.start(name);
  const isReady = async () => (await fetch(`${site.url(name)}/readyz`)).status === 200;
  if (!(await until(isReady, READY_MS_MAX))) throw new Error(`${name} is not ready`);
}
