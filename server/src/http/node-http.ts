/**
 * What the listener needs of `node:http`. An import would read all members of the module, and one of them loads Node's own HTTP
 * client, which takes longer than any other import.
 */
export const { createServer, ServerResponse } = process.getBuiltinModule('node:http');
