import type { Endpoint } from '../domain/snapshot.ts';
import { protocols } from './index.ts';
import type { Protocol } from './protocol.ts';
import { chatToMessages } from './translate/chat-to-messages/index.ts';
import { messagesToChat } from './translate/messages-to-chat/index.ts';
import { responsesToChat } from './translate/responses-to-chat/index.ts';
import { responsesToMessages } from './translate/responses-to-messages/index.ts';
import type { Translation } from './translate/translation.ts';

/** How a client's request reaches an endpoint. */
export interface Passage {
  /** What the provider speaks. */
  readonly protocol: Protocol;
  /** Null where the client speaks the same, and its bytes are passed through. */
  readonly translation: Translation | null;
}

const TRANSLATIONS: readonly Translation[] = [
  messagesToChat,
  chatToMessages,
  responsesToChat,
  responsesToMessages,
];

/** Of each client's protocol: first as it is, then translated. */
const PASSAGES = new Map(
  Object.values(protocols).map((client): [Protocol, readonly Passage[]] => [
    client,
    [
      { protocol: client, translation: null },
      ...TRANSLATIONS.filter((each) => each.client === client.operation).map((translation) => ({
        protocol: protocols[translation.provider],
        translation,
      })),
    ],
  ]),
);

type Spoken = Pick<Endpoint, 'protocol' | 'routeKind'>;

/** The one place that decides how what a client asks for reaches what an endpoint's provider speaks; undefined when it cannot. */
export function passageTo(client: Protocol, endpoint: Spoken): Passage | undefined {
  return PASSAGES.get(client)?.find(({ protocol }) => serves(endpoint, protocol));
}

function serves({ protocol, routeKind }: Spoken, { family, routeKind: wanted }: Protocol): boolean {
  return protocol === family && (routeKind === 'multi' || routeKind === wanted);
}
