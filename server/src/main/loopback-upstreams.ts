import { isLoopbackHost, LOOPBACK_CIDRS } from '../kit/loopback.ts';
import type { Environment } from './environment.ts';

type Settings = Pick<
  Environment,
  'RELAY_MODE' | 'RELAY_HTTP_ADDR' | 'RELAY_PUBLIC_URL' | 'RELAY_ALLOW_PRIVATE_NETWORKS'
>;

/**
 * The settings of `relay start`: while only this machine can call it, it may call services on this machine, such as
 * Ollama. A public URL means that a proxy passes on the calls of others.
 */
export function withLoopbackUpstreams<T extends Settings>(settings: T): T {
  const { RELAY_HTTP_ADDR: listens, RELAY_PUBLIC_URL: publicUrl } = settings;
  const isPrivate = isLoopbackHost(listens.host) && (publicUrl === null || isLoopbackHost(hostOf(publicUrl)));
  if (!isPrivate || settings.RELAY_MODE === 'hosted') return settings;
  const networks = [...settings.RELAY_ALLOW_PRIVATE_NETWORKS, ...LOOPBACK_CIDRS];
  return { ...settings, RELAY_ALLOW_PRIVATE_NETWORKS: networks };
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}
