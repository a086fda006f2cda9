import { BlockList, isIP } from 'node:net';

/** The addresses of this machine that no other machine can reach. */
export const LOOPBACK_CIDRS = ['127.0.0.0/8', '::1/128'];

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether a host, an address without brackets or a name, is on this machine by definition. */
export function isLoopbackHost(host: string): boolean {
  if (host === 'localhost') return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
