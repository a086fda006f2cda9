import { readFile } from 'node:fs/promises';
import type { JetStreamClient, JetStreamManager, StoredMsg, StreamConfig } from '@nats-io/jetstream';
import type { ConnectionOptions, NatsConnection } from '@nats-io/transport-node';
import {
  type DeploymentIdentity,
  foreignMessage,
  markOf,
  ownerIn,
} from '../../../store/deployment/identity.ts';
import type { NatsServers } from './nats-servers.ts';

const CONNECT_MS_MAX = 5_000;
const REPLY_MS_MAX = 5_000;
/** Of a stream that Relay creates. It must outlast the longest time in which no worker runs. */
const KEPT_DAYS = 7;
const NS_PER_DAY = 24 * 3_600 * 1e9;

const PORTION = 'Relay-Portion';
const BASE = 'Relay-Base';
const ID = 'Nats-Msg-Id';
/** Of a message: the ID of its deployment. Consumers need not know its database. */
const DEPLOYMENT = 'Relay-Deployment';
/** The description of a stream that Relay creates begins with it; the mark follows. */
const MARKED = 'Usage of Relay deployment ';

export interface UsageStreamDeps {
  readonly servers: NatsServers;
  /** Path of a credentials file, which has a user's token and its signing key; read at each connection. */
  readonly credentialsFile: string | null;
  readonly stream: string;
}

export interface UsageMessage {
  readonly versionId: string;
  readonly organizationId: string;
  readonly text: string;
  readonly portionId: string;
  /** The last message before which nothing is in doubt. */
  readonly baseSeq: number;
  /** The server refuses the message unless this one is the stream's last. */
  readonly afterSeq: number;
}

export type StoredMessage = Pick<UsageMessage, 'versionId' | 'portionId' | 'baseSeq'> & {
  readonly seq: number;
};

/** One connection to a stream of JetStream. After an error it is closed, and the caller opens another. */
export interface UsageStream {
  lastSeq(): Promise<number>;
  /** Null: there is no such message. 'foreign': not Relay's. Throws `ForeignStreamError` for one of another deployment. */
  read(seq: number): Promise<StoredMessage | 'foreign' | null>;
  /** Resolves when the server has stored the message. */
  send(message: UsageMessage): Promise<void>;
  isClosed(): boolean;
  close(): Promise<void>;
}

/** The stream, or its last message, belongs to another deployment. */
export class ForeignStreamError extends Error {
  override readonly name = 'ForeignStreamError';
  readonly owner: DeploymentIdentity;

  constructor(stream: string, owner: DeploymentIdentity, own: DeploymentIdentity) {
    super(foreignMessage(`The NATS stream ${stream}`, owner, own));
    this.owner = owner;
  }
}

/**
 * Connects, and creates the stream if there is none. The libraries are loaded at the first use. `own`: the deployment whose stream it has to be; null
 * does not compare.
 */
export async function openUsageStream(
  deps: UsageStreamDeps,
  own: DeploymentIdentity | null = null,
): Promise<UsageStream> {
  const [transport, { jetstream, jetstreamManager }] = await Promise.all([
    import('@nats-io/transport-node'),
    import('@nats-io/jetstream'),
  ]);
  const connection = await transport.connect(await optionsOf(deps, transport));
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: REPLY_MS_MAX });
    await demandStream(manager, deps.stream, own);
    const client = jetstream(connection, { timeout: REPLY_MS_MAX });
    return streamOn({ connection, manager, client, name: deps.stream, headers: transport.headers, own });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

type Transport = typeof import('@nats-io/transport-node');

async function optionsOf(
  { servers: { addresses, isTlsRequired, login }, credentialsFile }: UsageStreamDeps,
  { credsAuthenticator }: Transport,
): Promise<ConnectionOptions> {
  const own =
    login === null
      ? {}
      : login.password === null
        ? { token: login.user.reveal() }
        : { user: login.user.reveal(), pass: login.password.reveal() };
  const credentials =
    credentialsFile === null ? {} : { authenticator: credsAuthenticator(await readFile(credentialsFile)) };
  return {
    name: 'relay-usage',
    servers: [...addresses],
    ...(isTlsRequired && { tls: {} }),
    ...own,
    ...credentials,
    timeout: CONNECT_MS_MAX,
    // A portion does not outlive its connection, so the follower decides when to connect again.
    reconnect: false,
    // Only the addresses that the operator named.
    ignoreClusterUpdates: true,
  };
}

/** Creates the stream if it is missing; one that exists is the operator's and stays as it is. */
async function demandStream(
  manager: JetStreamManager,
  name: string,
  own: DeploymentIdentity | null,
): Promise<void> {
  const subject = `${name}.*`;
  const found = await manager.streams.info(name).then(
    ({ config }) => config,
    (error: unknown) => {
      if (error instanceof Error && error.name === 'StreamNotFoundError') return null;
      throw error;
    },
  );
  if (found === null) {
    const storage = { storage: 'file', retention: 'limits', discard: 'old' } as const;
    const description = own === null ? {} : { description: MARKED + markOf(own) };
    const max_age = KEPT_DAYS * NS_PER_DAY;
    await manager.streams.add({ name, subjects: [subject], ...storage, max_age, ...description });
    return;
  }
  const { description = '' } = found;
  if (description.startsWith(MARKED)) demandOwn(name, description.slice(MARKED.length), own);
  for (const fault of faultsOf(found, subject)) throw new Error(`The NATS stream ${name} ${fault}`);
}

/** Messages of earlier versions, and streams that their operator created, have no mark. */
function demandOwn(stream: string, mark: string, own: DeploymentIdentity | null): void {
  const owner = ownerIn(mark);
  if (own !== null && mark !== '' && owner.id !== own.id) throw new ForeignStreamError(stream, owner, own);
}

function faultsOf({ subjects, retention }: StreamConfig, subject: string): string[] {
  const faults: string[] = [];
  if (!subjects.some((each) => each === subject || each === subject.replace(/\*$/, '>')))
    faults.push(
      `does not accept the subject ${subject}. Add it, or set RELAY_NATS_STREAM to another stream.`,
    );
  if (retention !== 'limits')
    faults.push(
      `removes messages when they are read (retention ${retention}), so Relay can’t tell what it has sent. Use the retention policy "limits".`,
    );
  return faults;
}

interface Opened {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  readonly name: string;
  readonly headers: Transport['headers'];
  readonly own: DeploymentIdentity | null;
}

function streamOn({ connection, manager, client, name, headers, own }: Opened): UsageStream {
  return {
    lastSeq: async () => (await manager.streams.info(name)).state.last_seq,
    async read(seq) {
      const found = await manager.streams.getMessage(name, { seq });
      demandOwn(name, found?.header.get(DEPLOYMENT) ?? '', own);
      return found === null ? null : (storedMessage(found) ?? 'foreign');
    },
    async send({ versionId, organizationId, text, portionId, baseSeq, afterSeq }) {
      const fields = headers();
      fields.set(PORTION, portionId);
      fields.set(BASE, String(baseSeq));
      if (own !== null) fields.set(DEPLOYMENT, own.id);
      const { seq, duplicate } = await client.publish(`${name}.${organizationId}`, text, {
        msgID: versionId,
        headers: fields,
        expect: { streamName: name, lastSequence: afterSeq },
      });
      // The messages that follow it expect a sequence that this one did not get.
      if (duplicate) throw new Error(`The stream already has this message, as number ${seq}`);
    },
    isClosed: () => connection.isClosed(),
    close: () => connection.close(),
  };
}

function storedMessage({ seq, header }: StoredMsg): StoredMessage | null {
  const [portionId, base, versionId] = [header.get(PORTION), header.get(BASE), header.get(ID)];
  if (portionId === '' || base === '' || versionId === '') return null;
  return { seq, portionId, versionId, baseSeq: Number(base) };
}
