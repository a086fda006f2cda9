import { sendAlert } from '../../alerts/send-alert.ts';
import type { TestMessage } from '../../domain/alert-message.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import { WEBHOOK_SECRET_PREFIX } from '../../kit/sign-webhook.ts';
import type { tables } from '../../store/postgres/schema.ts';
import { createRunningTests } from '../connection-tests/running-tests.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { conflict } from '../resources/refusals.ts';
import type { Row } from '../resources/rows.ts';
import { firstPlace, nextPlace, sealedSecret } from '../resources/sealed-secret.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { demandTarget } from './destination-target.ts';
import { toDestination } from './wire.ts';

const TESTS_MAX = { inOrganization: 2, inProcess: 32 };
const TEST_MS = 10_000;
const SECRET_BYTES = 32;
/** Each alert of the organization is sent to each of them. */
const DESTINATIONS_MAX = 20;

type DestinationWrites = ResourceWrites<typeof tables.alert_destinations>;

export function alertDestinationHandlers(deps: ManagementDeps, writes: DestinationWrites): Handlers {
  const limited = createRunningTests(TESTS_MAX);
  return {
    listAlertDestinations: async (call) =>
      (await writes.list(call, 'listAlertDestinations')).map(toDestination),
    getAlertDestination: async (call) => toDestination(await writes.read(call, call.params.destination_id)),
    async createAlertDestination(call) {
      const { body } = call;
      demandStorable(body);
      const { name, kind, url = null, address = null, enabled } = body;
      const made = kind === 'webhook' && body.secret === undefined ? newSecret(deps) : undefined;
      const secret = body.secret ?? made;
      const row = await writes.create(call, async ({ tx, organizationId }, id) => {
        const target = await demandTarget(deps, tx, organizationId, { kind, url, address, secret });
        const others = await writes.rows.list(tx, organizationId, { limit: DESTINATIONS_MAX });
        if (others.length >= DESTINATIONS_MAX)
          throw conflict(
            'name',
            `An organization can have at most ${DESTINATIONS_MAX} alert destinations. Delete one first.`,
          );
        const sealed =
          secret === undefined ? {} : sealedSecret(deps.sealer, firstPlace(organizationId, id), secret);
        const inserted = await writes.rows.insert(tx, organizationId, {
          id,
          name,
          kind,
          ...target,
          ...sealed,
          enabled,
        });
        if (inserted === undefined) throw conflict('name', 'The destination already exists.');
        return inserted;
      });
      return { ...toDestination(row), ...(made !== undefined && { secret: made }) };
    },
    async updateAlertDestination(call) {
      const { body } = call;
      demandStorable(body);
      const row = await writes.update(
        call,
        call.params.destination_id,
        async ({ tx, organizationId }, before) => {
          const { url = before.url, address = before.address, secret } = body;
          const target = await demandTarget(deps, tx, organizationId, {
            kind: before.kind,
            url,
            address,
            secret,
          });
          const sealed =
            secret === undefined ? {} : sealedSecret(deps.sealer, nextPlace(placeOf(before)), secret);
          return { name: body.name, enabled: body.enabled, ...target, ...sealed };
        },
      );
      return toDestination(row);
    },
    deleteAlertDestination: (call) => writes.remove(call, call.params.destination_id),
    async testAlertDestination(call) {
      const row = await writes.read(call, call.params.destination_id);
      return limited(row.organization_id, () => testDestination(deps, row));
    },
  };
}

function placeOf(row: Row<'alert_destinations'>) {
  return { organizationId: row.organization_id, ownerId: row.id, secretVersion: row.secret_version };
}

function newSecret({ randomBytes }: Pick<ManagementDeps, 'randomBytes'>): string {
  return WEBHOOK_SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

async function testDestination(deps: ManagementDeps, row: Row<'alert_destinations'>) {
  const { organization_id: id } = row;
  const organization = await deps
    .ofOrganization(id)
    .selectFrom('organizations')
    .select('name')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const message: TestMessage = {
    id: deps.newId(),
    type: 'alert.test',
    created_at: new Date(deps.clock.nowMs()).toISOString(),
    organization: { id, name: organization.name },
  };
  const startMs = deps.clock.monotonicMs();
  const egress = deps.openEgress();
  try {
    const { failure, status } = await sendAlert({ ...deps, egress }, row, { message, subject: '' }, TEST_MS);
    return {
      ok: failure === null,
      status,
      message:
        failure === null
          ? 'The destination accepted the test alert.'
          : `${failure.error} Correct the destination, then test again.`,
      latency_ms: Math.round(deps.clock.monotonicMs() - startMs),
    };
  } finally {
    await egress.close();
  }
}
