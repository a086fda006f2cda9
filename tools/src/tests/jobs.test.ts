import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { allJobs, onlyInAll } from './jobs.ts';

const ROOT = join(import.meta.dirname, '../../..');
const jobs = allJobs(ROOT, { onPackage: true, isLong: false });

test('every job that is left to --all exists, and so does the job that stands in for it', () => {
  const inRun = jobs.filter(({ tier }) => tier === 'run').map(({ name }) => name);
  const left = jobs.filter(({ tier }) => tier === 'all').map(({ name }) => name);
  for (const [name, standIn] of Object.entries(onlyInAll)) {
    assert.ok(left.includes(name), name);
    assert.ok(
      inRun.some((each) => each === standIn || each.startsWith(`${standIn} `)),
      `${name}: ${standIn}`,
    );
  }
});
