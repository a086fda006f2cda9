import { type Caller, itemsOf } from './answer.ts';
import type { World } from './world.ts';

/** The declarative file: what it would change, that it changes it, that it owns it, and that it lets go. */
export async function walkConfig({ walk }: World, caller: Caller): Promise<void> {
  const config = {
    version: 1,
    providers: [{ name: 'From the file', base_url: 'https://file.example.com/v1' }],
    credentials: [{ provider: 'from-the-file', name: 'main', secret_ref: 'env:FILE_KEY' }],
    lanes: [{ name: 'Lane of the file', default_max_wait_ms: 1_000 }],
    guardrails: [{ name: 'Guard of the file', base_url: 'https://guard.example.com/check' }],
    guardrail_bindings: [{ guardrail: 'guard-of-the-file', target_type: 'lane', target: 'lane-of-the-file' }],
  };
  const plan = 'POST /api/relay/config/plan';
  const planned = await walk.expect(caller, plan, '200', { body: { config } });
  const { creates, required_secrets, plan_hash } = planned.body as Record<string, unknown>;
  if (creates !== 5 || String(required_secrets) !== 'env:FILE_KEY')
    walk.fault(`${plan}: the plan is ${planned.text}`);

  await walk.expect(caller, 'POST /api/relay/what-if', '200', { body: { config } });

  const apply = 'POST /api/relay/config/apply';
  const secrets = { 'env:FILE_KEY': walk.secrets.plant('the secret of the file') };
  const applied = await walk.expect(caller, apply, '200', {
    body: { config, plan_hash, secrets },
  });
  if (!applied.text.includes('"creates":5')) walk.fault(`${apply}: what was applied is ${applied.text}`);
  await walk.expect(caller, 'GET /api/relay/config/export', '200');

  const listed = itemsOf(await walk.send(caller, 'GET /api/relay/routing-lanes'));
  const owned = listed.find(({ name }) => name === 'Lane of the file');
  if (owned?.['managed_by'] !== 'file')
    walk.fault(`the lane of the file is managed by ${String(owned?.['managed_by'])}`);
  const lane = `/api/relay/routing-lanes/${String(owned?.['id'])}`;
  await walk.expect(caller, `DELETE ${lane}`, '409 managed_by_file');

  const pruned = { body: { config: { version: 1 }, prune: true } };
  const done = await walk.expect(caller, apply, '200', pruned);
  if (!done.text.includes('"deletes":5')) walk.fault(`${apply}: what was pruned is ${done.text}`);

  const limits = [{ scope_type: 'global', metric: 'requests', period: 'minute', limit_value: 10 }];
  const limited = { body: { config: { version: 1, limit_policies: limits } } };
  const usual = walk.mode.hosted ? '403 mode_unsupported' : '200';
  await walk.expect(caller, plan, usual, limited);
}
