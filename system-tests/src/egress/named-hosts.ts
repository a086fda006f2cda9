/**
 * Names as an attacker's zone would answer them, each lookup taking the next turn. Server processes get
 * them in place of the system's answer; all other names go to the system.
 */
export const namedHosts: Readonly<Record<string, readonly (readonly string[])[]>> = {
  // Not every system answers these itself.
  'localhost.': [['127.0.0.1']],
  'a.localhost': [['127.0.0.1']],
  'a.b.localhost': [['127.0.0.1']],
  'loopback.test': [['127.0.0.1']],
  'loopback6.test': [['::1']],
  'both.test': [['::1', '127.0.0.1']],
  'loop_back.test': [['127.0.0.1']],
  '127.0.0.1.sslip.test': [['127.0.0.1']],
  '7f000001.0a000001.rbndr.test': [['127.0.0.1']],
  'xn--bcher-kva.test': [['127.0.0.1']],
  'mapped.test': [['::ffff:127.0.0.1']],
  'compatible.test': [['::127.0.0.1']],
  'mixed.test': [['127.0.0.2', '127.0.0.1']],
  'mixed-reverse.test': [['127.0.0.1', '127.0.0.2']],
  'this-host.test': [['0.0.0.0']],
  'this-host6.test': [['::']],
  'metadata.test': [['169.254.169.254']],
  'metadata6.test': [['fd00:ec2::254']],
  'shared.test': [['100.64.0.1']],
  'private.test': [['10.0.0.1']],
  'nat64.test': [['64:ff9b::7f00:1']],
  '6to4.test': [['2002:7f00:1::']],
  'teredo.test': [['2001:0:7f00:1::']],
  'rebinding.test': [['127.0.0.2'], ['127.0.0.1']],
};
