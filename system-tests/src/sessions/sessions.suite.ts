import { after } from 'node:test';
import { reportFigures } from '../harness/figures.ts';
import { figures } from './console.ts';
import { hostedCases } from './hosted.ts';
import { selfHostedCases } from './self-hosted.ts';

// What people do in a browser, against two processes of a hosted deployment and two of a self-hosted one with
// accounts: every second request goes to the other process. The identity provider is a real one on the loopback
// address.

hostedCases();
selfHostedCases();

after(() => reportFigures(figures));
