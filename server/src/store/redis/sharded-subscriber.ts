import { entryIn } from '../../kit/entry-in.ts';
import { CONNECT_TIMEOUT_MS } from './redis-connection.ts';
import { createSubscription, type SubscriberOptions, type Subscription, within } from './redis-subscriber.ts';

interface Heard {
  readonly listener: (message: string) => void;
  /** It is heard, and what was published before may have been missed. */
  readonly onRestored: () => void;
  /** The server that it is subscribed on. */
  url: string;
}

export interface ShardedSubscriber {
  subscribeShard(
    channel: string,
    listener: (message: string) => void,
    onRestored: () => void,
  ): Promise<() => Promise<void>>;
  /** Channels whose slot another server has by now are subscribed there. */
  follow(): void;
  close(): void;
}

export interface ShardedSubscriberOptions extends SubscriberOptions {
  /** The server that has the slot of a channel; undefined while unknown. */
  readonly urlOf: (channel: string) => string | undefined;
  /** Servers may have other slots than we know. */
  readonly onMoved: () => void;
}

/** Subscriptions in the slot of a channel's name, on one more connection to each server that has such a slot. */
export function createShardedSubscriber(options: ShardedSubscriberOptions): ShardedSubscriber {
  const { urlOf, onMoved, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const channels = new Map<string, Heard>();
  const connections = new Map<string, Subscription>();

  function connectionTo(url: string): Subscription {
    return entryIn(connections, url, connectTo);
  }

  function connectTo(url: string): Subscription {
    const names = () => [...channels].filter(([, heard]) => heard.url === url).map(([name]) => name);
    return createSubscription([url], options, {
      names,
      sharded: true,
      deliver: (message, channel) => channels.get(channel)?.listener(message),
      onSubscribed() {
        for (const name of names()) channels.get(name)?.onRestored();
      },
      onMoved,
    });
  }

  return {
    async subscribeShard(channel, listener, onRestored) {
      const url = urlOf(channel) ?? '';
      channels.set(channel, { listener, onRestored, url });
      if (url === '') onMoved();
      else {
        const added = connectionTo(url).add(channel);
        if (!(await within(connectTimeoutMs, added))) void added.then(onRestored);
      }
      return async () => {
        const heard = channels.get(channel);
        channels.delete(channel);
        await connections.get(heard?.url ?? '')?.remove(channel);
      };
    },
    follow() {
      for (const [channel, heard] of channels) {
        const url = urlOf(channel);
        if (url === undefined || url === heard.url) continue;
        void connections.get(heard.url)?.remove(channel);
        heard.url = url;
        void connectionTo(url)
          .add(channel)
          .then(() => heard.onRestored());
      }
      for (const [url, connection] of connections) {
        if ([...channels.values()].some((heard) => heard.url === url)) continue;
        connections.delete(url);
        connection.close();
      }
    },
    close() {
      for (const connection of connections.values()) connection.close();
    },
  };
}
