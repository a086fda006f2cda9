import { configSchemaText } from '@relay/contract';
import type { GeneratedFile } from './generated-file.ts';

/** The schema by which editors complete and check `relay.yaml`. */
export function configSchemaFile(): GeneratedFile[] {
  return [{ path: 'contract/relay.schema.json', content: configSchemaText() }];
}
