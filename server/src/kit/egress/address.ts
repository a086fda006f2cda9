import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * The addresses that outgoing HTTP may reach. Everything that is not clearly public unicast is blocked, so an unknown range
 * stays blocked; operators open private networks by CIDR.
 */
export interface AddressPolicy {
  allows(address: string): boolean;
}

// RFC 6890 and its successors: "this network", private, shared (carrier NAT), loopback, link local
// (cloud metadata), protocol assignments, documentation, 6to4 relay, benchmarking, multicast, reserved.
const CLOSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

// Only 2000::/3 is public unicast. Inside it these carry an embedded or special destination: protocol
// assignments with Teredo and ORCHID, documentation (both ranges) and 6to4, which wraps an IPv4 address.
const CLOSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

export class InvalidCidrError extends Error {}

export function createAddressPolicy(allowedCidrs: readonly string[]): AddressPolicy {
  const allowed = blockListOf(allowedCidrs);
  const closedIpv4 = blockListOf(CLOSED_IPV4);
  const closedIpv6 = blockListOf(CLOSED_IPV6);
  const publicIpv6 = blockListOf(['2000::/3']);

  return {
    allows(address) {
      const plain = unwrapMappedIpv4(address);
      if (isIPv4(plain)) return allowed.check(plain, 'ipv4') || !closedIpv4.check(plain, 'ipv4');
      if (!isIPv6(plain)) return false;
      if (allowed.check(plain, 'ipv6')) return true;
      return publicIpv6.check(plain, 'ipv6') && !closedIpv6.check(plain, 'ipv6');
    },
  };
}

function blockListOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const { address, prefixBits } = parseCidr(cidr);
    list.addSubnet(address, prefixBits, isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}

export function parseCidr(text: string): { address: string; prefixBits: number } {
  const [address = '', prefix, ...rest] = text.trim().split('/');
  const family = isIP(address);
  const bitsMax = family === 4 ? 32 : 128;
  const prefixBits = prefix === undefined ? bitsMax : Number(prefix);
  const wellFormed =
    family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(prefix ?? '0') && prefixBits <= bitsMax;
  if (!wellFormed) throw new InvalidCidrError(`"${text}" is not a network such as 10.0.0.0/8 or fd00::/8`);
  return { address, prefixBits };
}

/** `::ffff:10.0.0.1` dials 10.0.0.1 and is judged as that. A zone id (`%eth0`) is never valid here. */
function unwrapMappedIpv4(address: string): string {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (hex === null) return address;
  const high = Number.parseInt(hex[1] ?? '', 16);
  const low = Number.parseInt(hex[2] ?? '', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
