import { join } from 'node:path';

/** The command under test: from source, or of the built package that RELAY_SYSTEM_BIN names. */
export const RELAY_ENTRY =
  process.env['RELAY_SYSTEM_BIN'] || join(import.meta.dirname, '../../../cli/bin/relay.js');
