import assert from 'node:assert/strict';
import type { Manner } from '../manner.ts';

export const guardrailCreation: readonly Manner[] = [
  {
    name: 'a guardrail may be created with `enabled`, and is disabled whatever it says',
    async check(site) {
      for (const enabled of [true, false]) {
        const made = await site.admin.create('/api/relay/guardrails', {
          name: `With enabled ${enabled}`,
          preset_slug: 'custom-http',
          base_url: 'https://guard.example.com/check',
          http_method: 'POST',
          auth_mode: 'none',
          pre_dispatch_enabled: true,
          enabled,
        });
        assert.equal(made['enabled'], false);
      }
    },
  },
];
