import { after, before, describe, it } from 'node:test';
import type { Deployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { sharedDeployment } from '../harness/shared-deployment.ts';
import { manyCreates } from './calls/many-creates.ts';
import { callManners } from './calls.ts';
import { clientManners } from './clients.ts';
import type { Manner } from './manner.ts';
import { writeManners } from './writes.ts';

// Small promises that clients and operators meet every day, each by its own name.

let site: Deployment;
let checks = 0;
let failing = 0;

before(async () => {
  site = await sharedDeployment('accounts');
});

after(() => reportFigures({ checks, failing }));

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
// After the others, because lists are long after it.
describeAll('many writes', manyCreates);
