// Loaded into a server process before anything else: answers `namedHosts` in place of the system's resolver.
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import { namedHosts } from './named-hosts.ts';

type Callback = (
  error: NodeJS.ErrnoException | null,
  found: string | LookupAddress[],
  family?: number,
) => void;

const system = dns.lookup as (hostname: string, options: LookupOptions, callback: Callback) => void;
const asked = new Map<string, number>();

function lookup(hostname: string, options: LookupOptions, callback: Callback): void {
  const name = hostname.toLowerCase();
  const turns = namedHosts[name] ?? namedHosts[name.replace(/\.$/, '')];
  if (turns === undefined) {
    system(hostname, options, callback);
    return;
  }
  const turn = asked.get(name) ?? 0;
  asked.set(name, turn + 1);
  const found = (turns[turn % turns.length] ?? []).map((address) => ({ address, family: isIP(address) }));
  process.nextTick(() => {
    if (options.all === true) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  });
}

Object.assign(dns, { lookup });
syncBuiltinESMExports();
