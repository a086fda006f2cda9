import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readEnvironment, variables } from '@relay/server';
import { DEPLOY, readYaml, unknownSettings, type Value } from './read-yaml.ts';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: Value;
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly stop_grace_period?: string;
}

/** What the Compose specification has for a service, of what this file uses. A misspelled field would be in no list. */
const FIELDS = new Set(
  'image command environment env_file volumes networks ports depends_on healthcheck restart read_only tmpfs cap_drop security_opt stop_grace_period'.split(
    ' ',
  ),
);
const STORES = ['postgres', 'redis'];
const ROLES = ['gateway', 'platform', 'worker'];

const file = readYaml('compose/compose.yaml');
const services = file['services'] as Readonly<Record<string, Service>>;
const folder = mkdtempSync(join(tmpdir(), 'relay-compose-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** `${NAME:-default}` as Compose reads it when the variable is not set. */
const byDefault = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');

function makeSecrets(): Readonly<Record<'relay' | 'postgres', Record<string, string>>> {
  copyFileSync(join(DEPLOY, 'compose/secrets.sh'), join(folder, 'secrets.sh'));
  execFileSync('sh', [join(folder, 'secrets.sh')]);
  const read = (name: string) => {
    const path = join(folder, 'secrets', `${name}.env`);
    assert.equal(statSync(path).mode & 0o077, 0, `${name}.env can be read by others`);
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))) as Record<
      string,
      string
    >;
  };
  return { relay: read('relay'), postgres: read('postgres') };
}

describe('the compose file', () => {
  it('has only fields of the specification, and names only what it defines', () => {
    const defined = (kind: string) => Object.keys(file[kind] as Value);
    assert.deepEqual(
      Object.keys(file).filter((name) => !/^(name|services|volumes|networks|x-.+)$/.test(name)),
      [],
    );
    for (const [name, service] of Object.entries(services)) {
      assert.deepEqual(
        Object.keys(service).filter((field) => !FIELDS.has(field)),
        [],
        name,
      );
      for (const network of service.networks) assert.ok(defined('networks').includes(network), network);
      for (const volume of service.volumes ?? [])
        assert.ok(defined('volumes').includes(volume.split(':')[0] ?? ''), volume);
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        const expected = other === 'migration' ? 'service_completed_successfully' : 'service_healthy';
        assert.equal(condition, expected, `${name} waits for ${other}`);
        assert.ok(other === 'migration' || services[other]?.healthcheck !== undefined, other);
      }
    }
  });

  it('sets only settings that exist', () => {
    for (const name of [...ROLES, 'migration'])
      assert.deepEqual(unknownSettings(Object.keys(services[name]?.environment ?? {})), [], name);
  });

  it('starts every role with the secrets of the script', () => {
    const { relay, postgres } = makeSecrets();
    assert.deepEqual(unknownSettings(Object.keys(relay)), []);
    assert.equal(new URL(relay['DATABASE_URL'] ?? '').password, postgres['POSTGRES_PASSWORD']);
    for (const name of ROLES) {
      const { environment = {}, command = [] } = services[name] ?? {};
      const own = Object.fromEntries(
        Object.entries(environment).map(([key, value]) => [key, byDefault(value)]),
      );
      const role = command[2] as Parameters<typeof readEnvironment>[1];
      const read = readEnvironment({ ...relay, ...own, RELAY_ACCOUNTS: 'true' }, role);
      assert.equal(read.RELAY_LAME_DUCK_MS, 0);
    }
    assert.throws(
      () => execFileSync('sh', [join(folder, 'secrets.sh')], { stdio: 'ignore' }),
      'it replaced secrets',
    );
    assert.equal(new Set(Object.values(relay)).size, Object.keys(relay).length, 'two secrets are equal');
  });

  it('publishes no port of a store, and gives stores no way out', () => {
    const networks = file['networks'] as Readonly<Record<string, { internal?: boolean } | null>>;
    for (const name of STORES) {
      assert.equal(services[name]?.ports, undefined);
      for (const network of services[name]?.networks ?? []) assert.equal(networks[network]?.internal, true);
    }
    for (const name of ROLES)
      for (const port of services[name]?.ports ?? [])
        assert.match(byDefault(port), /^127\.0\.0\.1:\d+:8080$/);
  });

  it('keeps what Redis holds, and never evicts', () => {
    const command = services['redis']?.command?.join(' ') ?? '';
    assert.match(command, /--appendonly yes/);
    assert.match(command, /--maxmemory-policy noeviction/);
  });

  it('lets providers beside it be reached, and no other private network', () => {
    const networks = file['networks'] as { providers: { ipam: { config: { subnet: string }[] } } };
    const subnet = networks.providers.ipam.config[0]?.subnet;
    for (const name of ROLES) {
      const allowed = services[name]?.environment?.['RELAY_ALLOW_PRIVATE_NETWORKS'] ?? '';
      assert.equal(allowed, subnet);
      variables.RELAY_ALLOW_PRIVATE_NETWORKS.parse(byDefault(allowed));
    }
  });

  it('restricts and restarts every role, and lets it drain', () => {
    for (const name of ROLES) {
      const { read_only, restart, stop_grace_period = '', environment = {} } = services[name] ?? {};
      assert.equal(read_only, true);
      assert.equal(restart, 'unless-stopped');
      const graceMs = 1_000 * Number.parseInt(stop_grace_period, 10);
      assert.ok(graceMs >= Number(environment['RELAY_DRAIN_TIMEOUT_MS']) + 15_000, name);
    }
  });
});
