/** What the headers of a request say, read in one pass over the raw list. */
export interface HeaderFacts {
  key: string;
  /** `anthropic-version`; null when it was not sent. */
  anthropicVersion: string | null;
  contentType: string;
  contentEncoding: string;
  /** What no client of a provider may send. */
  violations: string[];
}

export const noFacts: HeaderFacts = {
  key: '',
  anthropicVersion: null,
  contentType: '',
  contentEncoding: '',
  violations: [],
};

export function inspectHeaders(rawHeaders: string[]): HeaderFacts {
  const facts: HeaderFacts = { ...noFacts, violations: [] };
  const seen = new Set<string>();
  let credentials = 0;
  let hasLength = false;
  let hasTransferEncoding = false;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    switch (name) {
      case 'authorization':
        if (seen.has(name)) facts.violations.push('duplicated_authorization');
        else credentials += 1;
        seen.add(name);
        if (/^bearer /i.test(value)) facts.key = value.slice(7).trim();
        break;
      case 'api-key':
      case 'x-api-key':
        credentials += 1;
        if (facts.key === '') facts.key = value;
        break;
      case 'anthropic-version':
        facts.anthropicVersion = value;
        break;
      case 'content-type':
        if (seen.has(name)) facts.violations.push('duplicated_content_type');
        seen.add(name);
        facts.contentType = value;
        break;
      case 'content-encoding':
        facts.contentEncoding = value;
        break;
      case 'content-length':
        hasLength = true;
        break;
      case 'transfer-encoding':
        hasTransferEncoding = true;
        break;
      case 'cookie':
      case 'proxy-authorization':
        facts.violations.push(`forbidden_header:${name}`);
        break;
      default:
        if (name.startsWith('x-relay-')) facts.violations.push(`forbidden_header:${name}`);
    }
  }
  if (credentials > 1) facts.violations.push('several_credentials');
  if (hasLength && hasTransferEncoding) facts.violations.push('transfer_encoding_with_content_length');
  return facts;
}
