import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allRoutes } from '@relay/contract';
import { refusal } from '../fixture.ts';
import { cursorOfIds, idOfCursor, idsOfCursor } from './cursor.ts';

const ID = '0192f5a0-0000-7000-8000-00000000000b';
const OTHER = '0192f5a0-0000-7000-8000-00000000000c';

/** Every route of the contract with pages. */
const lists = allRoutes
  .filter(({ query }) => query !== undefined && 'cursor' in Object(Reflect.get(query, 'properties')))
  .map(({ id }) => id);

describe('a cursor', () => {
  it('is read by the list of the organization that gave it out, and by no other list or organization', () => {
    assert.ok(lists.length > 15, String(lists.length));
    for (const route of lists) {
      const own = { route, organizationId: ID };
      const cursor = cursorOfIds(own, OTHER);
      assert.equal(idOfCursor(own, cursor), OTHER);
      const foreign = [
        { ...own, organizationId: OTHER },
        { ...own, params: { guardrail_id: OTHER } },
        ...lists.filter((each) => each !== route).map((each) => ({ ...own, route: each })),
      ];
      for (const list of foreign)
        assert.throws(() => idOfCursor(list, cursor), refusal('invalid_request', 'cursor'));
    }
  });

  it('holds several ids, and is refused when it holds none or is cut', () => {
    const list = { route: 'getUsageStatement', organizationId: ID } as const;
    const cursor = cursorOfIds(list, ID, OTHER);
    assert.deepEqual(idsOfCursor(list, cursor), [ID, OTHER]);
    for (const wrong of ['', 'x', cursor.slice(1), cursorOfIds(list)])
      assert.throws(() => idsOfCursor(list, wrong), refusal('invalid_request', 'cursor'));
  });
});
