import { BlockList, isIP, isIPv4 } from 'node:net';

const nearby = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  nearby.addSubnet(network, bits, 'ipv4');
nearby.addAddress('::1', 'ipv6');
nearby.addSubnet('fc00::', 7, 'ipv6');
nearby.addSubnet('fe80::', 10, 'ipv6');

/**
 * The client's address: the peer of the connection or, when that is a proxy on a private network, the address this proxy
 * added last. Addresses that the client itself claims come before that and are ignored.
 */
export function clientAddressOf(remoteAddress: string, forwardedFor: string | undefined): string {
  const remote = plain(remoteAddress);
  const added = plain(forwardedFor?.split(',').at(-1)?.trim() ?? '');
  return isNearby(remote) && isIP(added) !== 0 ? added : remote;
}

/** The client's address of a call. */
export function addressOf(call: {
  readonly remoteAddress: string;
  readonly header: (name: string) => string | undefined;
}): string {
  return clientAddressOf(call.remoteAddress, call.header('x-forwarded-for'));
}

/** A household or server has a whole /64 of IPv6, so attempts are counted per /64. */
export function countedAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

function isNearby(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && nearby.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Removes the IPv6 form of an IPv4 address on a dual-stack socket. */
function plain(address: string): string {
  const mapped = address.replace(/^::ffff:/i, '');
  return isIPv4(mapped) ? mapped : address;
}
