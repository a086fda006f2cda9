import { faultsIn } from '../fault.ts';

export const mailFaults = faultsIn('server/src/mail', [
  {
    name: 'a letter that was refused for good is sent again',
    file: 'outbox.ts',
    find: 'failure.isFinal || isStopping ? undefined',
    replace: 'isStopping ? undefined',
    why: 'the server of the recipient blocks us',
  },
  {
    name: 'letters without a bound are held',
    file: 'outbox.ts',
    find: 'isStopping || held.size >= HELD_MAX',
    replace: 'isStopping',
    why: 'an outage of the mail server fills the memory',
  },
  {
    name: 'the end does not wait for letters',
    file: 'outbox.ts',
    find: 'if (held.size > 0) await soon(',
    replace: 'if (held.size < 0) await soon(',
    why: 'a password reset is lost at every restart',
  },
]);
