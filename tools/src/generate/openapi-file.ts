import { buildOpenApi } from '@relay/contract';
import type { GeneratedFile } from './generated-file.ts';

export function openApiFile(): GeneratedFile[] {
  return [{ path: 'contract/openapi.json', content: `${JSON.stringify(buildOpenApi(), null, 2)}\n` }];
}
