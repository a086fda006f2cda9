import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Counted, plans } from './access.ts';

const ROWS: Readonly<Record<Counted, string>> = {
  providers: 'providers',
  endpoints: 'endpoints',
  lanes: 'lanes',
  guardrails: 'guardrails',
  api_keys: 'active API keys',
  members: 'members, with open invitations',
};

test('the guide to plans says what each plan includes', () => {
  const guide = readFileSync(new URL('../../../docs/guides/plans.md', import.meta.url), 'utf8');
  const said = (count: number | null) =>
    count === null ? 'unlimited' : count === 0 ? 'none' : count.toLocaleString('en-US');
  const shown = [plans.free, plans.team, plans.enterprise];
  for (const [counted, row] of Object.entries(ROWS) as [Counted, string][])
    assert.ok(
      guide.includes(`| ${[row, ...shown.map(({ counts }) => said(counts[counted]))].join(' | ')} |`),
      row,
    );
  const audits = shown.map(({ withheld }) => (withheld.includes('cloud:audit:read') ? 'no' : 'yes'));
  assert.ok(guide.includes(`| ${['audit log', ...audits].join(' | ')} |`));
});
