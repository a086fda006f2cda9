/** Masks what differs between runs. Column widths depend on it, so runs of spaces are collapsed on a terminal. */
const volatile: readonly (readonly [pattern: RegExp, shown: string])[] = [
  [/rly_[0-9A-Za-z]{10}_[0-9A-Za-z]{40,}/g, '<key>'],
  [/rly_[0-9A-Za-z]{10}/g, '<prefix>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>'],
  [/whsec_[A-Za-z0-9+/=]+/g, '<secret>'],
  [/req_sim_\d+/g, 'req_sim_<n>'],
  [/(127\.0\.0\.1|localhost):\d+/g, '$1:<port>'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)/g, '<time>'],
  [
    /("(?!default_max|max_|timeout_|wait_budget_)[a-z_]*(_ms|_ms_p\d+|_ms_max|seconds|per_second)": ?)(\d[\d.]*|null)/g,
    '$1<n>',
  ],
  [/\b\d+(\.\d+)? (ms|s|min|h|d)( \d+ (s|min|h))?\b/g, '<duration>'],
  // Estimates depend on earlier responses, which reach the gateway at varying times.
  [/("estimated_(output_tokens|cost_micros)": ?)\d+/g, '$1<n>'],
  [/input · [\d,]+ output tokens/g, 'input · <n> output tokens'],
  [/\$[\d,]+\.\d+/g, '<dollars>'],
  // The reconciliation with the ledger runs at its own interval.
  [/^. metering .*\n/gm, ''],
  [/^ *\{\s+"check": "metering",[^}]*\},\n/gm, ''],
  [/\b\d+(\.\d+)? per second/g, '<rate> per second'],
  [/(RELAY_CONTEXT_\w+)=\S+/g, '$1=<base64>'],
  [/process \d+ on \S+/g, 'process <pid> on <host>'],
  [/("?plan_hash"?: )\S+/g, '$1<hash>'],
  [/\b0\.1\.0\b/g, '<version>'],
  [/^(applied {2})\d+-\S+$(\n\1\d+-\S+$)*/gm, '$1<every migration>'],
];

export interface MaskOptions {
  readonly home: string;
  readonly isTerminal: boolean;
}

export function mask(text: string, { home, isTerminal }: MaskOptions): string {
  let masked = text.replaceAll('\r\n', '\n').replaceAll(home, '<home>');
  for (const [pattern, shown] of volatile) masked = masked.replaceAll(pattern, shown);
  masked = masked.replaceAll(new Date().toISOString().slice(0, 10), '<today>');
  if (isTerminal) masked = masked.replaceAll(/ {2,}/g, '  ').replaceAll(/ +$/gm, '');
  return masked;
}
