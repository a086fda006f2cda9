import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { callManners } from './calls.ts';
import { clientManners } from './clients.ts';
import type { Manner } from './manner.ts';
import { writeManners } from './writes.ts';

// Small promises that clients and operators meet every day, each by its own name.

let site: Deployment;
let checks = 0;
let failing = 0;

before(async () => {
  site = await startDeployment({
    env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: randomBytes(32).toString('base64url') },
  });
});

after(async () => {
  await site?.stop();
  reportFigures({ checks, failing });
});

function describeAll(title: string, manners: readonly Manner[]): void {
  describe(title, () => {
    for (const { name, check } of manners) {
      it(name, async () => {
        checks += 1;
        failing += 1;
        await check(site);
        failing -= 1;
      });
    }
  });
}

describeAll('clients', clientManners);
describeAll('calls', callManners);
describeAll('writes', writeManners);
