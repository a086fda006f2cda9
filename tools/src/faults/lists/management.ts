import { faultsIn } from '../fault.ts';

export const managementFaults = faultsIn('server/src/management', [
  {
    name: "deleting an endpoint deletes the file's pricing",
    file: 'pricing-policies/resource.ts',
    find: "    parents: [{ table: 'endpoints', column: 'endpoint_id' }],\n",
    replace: '',
    why: 'what the file owns disappears by hand, and the next apply puts it back',
    tests: ['registry/tables.db.test.ts', 'config-file/ownership.db.test.ts'],
  },
  {
    name: "deleting a provider deletes the file's limits",
    file: 'limits/resource.ts',
    find: "      { table: 'providers', column: 'scope_id' },\n",
    replace: '',
    why: 'what the file owns disappears by hand',
    tests: ['registry/tables.db.test.ts', 'config-file/ownership.db.test.ts'],
  },
  {
    name: 'an update puts back the target that another set',
    file: 'limits/change-budget.ts',
    find: 'wantedTargetId(current, wanted)',
    replace: 'wantedTargetId(found, wanted)',
    why: 'of two people who change a budget one loses their change',
    tests: ['limits/user-budgets.db.test.ts'],
  },
  {
    name: 'a list of entity tags always matches',
    file: 'resources/entity-tag.ts',
    find: 'if (tags.includes(tag)) return;',
    replace: 'if (tags.length > 1 || tags.includes(tag)) return;',
    why: 'a person overwrites what another changed',
    tests: ['resources/entity-tag.test.ts'],
  },
  {
    name: 'members of a lane do not count in its tag',
    file: 'resources/entity-tag.ts',
    find: '.map(({ id, version }) => `',
    replace: '.slice(0, 0).map(({ id, version }) => `',
    why: 'a person overwrites an order that another changed',
    tests: ['resources/entity-tag.test.ts'],
  },
  {
    name: 'an old signature is accepted',
    file: 'billing/stripe-signature.ts',
    find: 'return isMatch && Math.floor(nowMs / 1_000) - Number(timestamp) <= SIGNATURE_AGE_SECONDS_MAX;',
    replace: 'return isMatch;',
    why: 'a captured event is sent again',
  },
  {
    name: 'a signature of another secret is accepted',
    file: 'billing/stripe-signature.ts',
    find: "name === 'v1' && isSame(expected, value)",
    replace: "name === 'v1' && isSame(expected, expected.toString('hex')) && value !== ''",
    why: 'anyone changes the plan of an organization',
  },
]);
