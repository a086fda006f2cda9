import { type Caller, idOf } from './answer.ts';
import * as fields from './fields/guardrail.ts';
import { listOf, nothing } from './shape.ts';
import type { World } from './world.ts';

/** The rows of section 4.2 about guardrails, and what goes with them. */
export async function walkGuardrails({ walk }: World, caller: Caller): Promise<void> {
  const path = '/api/relay/guardrails';
  await walk.expect(caller, 'GET /api/relay/guardrail-presets', '200', listOf(fields.guardrailPreset));
  const body = {
    name: 'Moderation',
    preset_slug: 'custom-http',
    base_url: 'https://guard.example.com/check',
    http_method: 'POST',
    auth_mode: 'none',
    pre_dispatch_enabled: true,
  };
  const made = await walk.expect(caller, `POST ${path}`, '201', fields.guardrail, { body });
  if (made.status === 201 && !made.text.includes('"enabled":false'))
    walk.fault(`POST ${path}: a new one is enabled`);
  const one = `${path}/${idOf(made)}`;
  await walk.expect(caller, `GET ${path}`, '200', listOf(fields.guardrail));
  await walk.expect(caller, `GET ${one}`, '200', fields.guardrailDetail);
  const secret = walk.secrets.plant('the credential of a guardrail');
  const change = { body: { name: 'Moderation 2', enabled: true, auth_mode: 'bearer_static', secret } };
  await walk.expect(caller, `PUT ${one}`, '200', fields.guardrail, change);
  const bindings = { body: { bindings: [{ target_type: 'global' }] } };
  await walk.expect(caller, `PUT ${one}/bindings`, '200', listOf(fields.guardrailBinding), bindings);
  await walk.expect(caller, `GET ${one}/bindings`, '200', listOf(fields.guardrailBinding));
  await walk.expect(caller, `POST ${one}/test`, '200', fields.guardrailTest, { body: { text: 'Hello.' } });
  await walk.expect(caller, `GET ${one}/stats`, '200', fields.guardrailStats);
  await walk.expect(caller, 'GET /api/relay/guardrail-stats', '200', fields.guardrailTotals);
  await walk.expect(caller, `DELETE ${one}`, '204', nothing);
}
