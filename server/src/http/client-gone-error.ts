/** The client disconnected before its request was complete. */
export class ClientGoneError extends Error {}
