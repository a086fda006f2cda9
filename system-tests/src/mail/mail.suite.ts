import { after, before, describe } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { reportFigures } from '../harness/figures.ts';
import { attemptCases } from './attempt-cases.ts';
import { deliveryCases } from './delivery-cases.ts';
import { letterCases } from './letter-cases.ts';
import { operatorCases } from './operator-cases.ts';
import { resetCases } from './reset-cases.ts';
import { signUpCases } from './sign-up-cases.ts';
import { figures, type Site, startSite } from './site.ts';

// Sign-ups, password resets, invitations and alerts by e-mail, and attempts to sign in, against two processes of a hosted deployment and
// two of a self-hosted one with accounts. The mail server is a real one in a process of its own.

for (const mode of ['hosted', 'self_hosted'] as const) {
  describe(mode, () => {
    let site: Site;
    before(async () => {
      site = await startSite(mode);
    });
    after(() => site?.stop());
    describe('password reset', () => resetCases(() => site));
    describe('messages', () => letterCases(() => site));
    if (mode === 'hosted') describe('sign-up', () => signUpCases(() => site));
    // Both modes have the same code for attempts, and most of the cases wait.
    if (mode === 'hosted' || IS_LONG) describe('attempts', () => attemptCases(() => site));
  });
}
deliveryCases();
operatorCases();

after(() => reportFigures(figures));
