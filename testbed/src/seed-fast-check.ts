// Loaded into every test process before its tests (`node --import`), so that no test has to pass the seed.
import fc from 'fast-check';
import { testSeed } from './random.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed() });
