import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type PrivateNats, selfSigned, startNats } from '@relay/testbed';
import pino from 'pino';
import { natsAccounts } from './nats-accounts.fixture.ts';
import { parseNatsUrl } from './nats-servers.ts';
import { openUsageStream } from './usage-stream.ts';

const run = promisify(execFile);

describe('the connection to NATS', () => {
  let directory: string;
  const servers: PrivateNats[] = [];

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'relay-nats-test-'));
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.remove()));
    rmSync(directory, { recursive: true, force: true });
  });

  async function nats(config: string): Promise<PrivateNats> {
    const server = await startNats({ config });
    servers.push(server);
    return server;
  }

  const open = (url: string, credentialsFile: string | null = null) =>
    openUsageStream({ servers: parseNatsUrl(url), credentialsFile, stream: 'USAGE' });

  async function works(url: string, credentialsFile: string | null = null): Promise<void> {
    const stream = await open(url, credentialsFile);
    assert.equal(await stream.lastSeq(), 0);
    await stream.close();
  }

  it('signs in with a password or a token, and an error has neither', async () => {
    const { port } = await nats('authorization { user: "relay", password: "right-horse" }');
    await works(`nats://relay:right-horse@127.0.0.1:${port}`);
    const error = await open(`nats://relay:wrong-horse@127.0.0.1:${port}`).then(
      () => assert.fail('signed in'),
      (caught: unknown) => caught,
    );
    const written: string[] = [];
    pino({}, { write: (line: string) => written.push(line) }).error({ err: error }, 'failed');
    assert.match(written.join(), /Authorization Violation/i);
    assert.doesNotMatch(written.join(), /wrong-horse/);
    const other = await nats('authorization { token: "some-token" }');
    await works(`nats://some-token@127.0.0.1:${other.port}`);
  });

  it('signs in with a credentials file', async () => {
    const { config, credentials } = natsAccounts();
    const { url } = await nats(config);
    const file = join(directory, 'relay.creds');
    writeFileSync(file, credentials, { mode: 0o600 });
    await works(url, file);
    await assert.rejects(open(url), /authorization/i);
  });

  it('uses TLS with tls://, and refuses a server without it or with an unknown certificate', async () => {
    const plain = await nats('');
    await assert.rejects(open(`tls://user:password@localhost:${plain.port}`), /does not support 'tls'/);
    const { cert, key } = selfSigned('localhost');
    const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key, { mode: 0o600 });
    const { port } = await nats(`tls { cert_file: "${certFile}", key_file: "${keyFile}" }`);
    const url = `tls://localhost:${port}`;
    await assert.rejects(open(url), /self-signed certificate/);
    const program = `
      import { parseNatsUrl } from '${import.meta.dirname}/nats-servers.ts';
      import { openUsageStream } from '${import.meta.dirname}/usage-stream.ts';
      const servers = parseNatsUrl('${url}');
      const stream = await openUsageStream({ servers, credentialsFile: null, stream: 'USAGE' });
      process.stdout.write(String(await stream.lastSeq()));
      await stream.close();`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile },
    });
    assert.equal(stdout, '0');
  });
});
