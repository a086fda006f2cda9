/** An answer in the provider's error shape. */
export interface Refusal {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

export function refusal(status: number, message: string, code: string | null, param: string | null): Refusal {
  return { status, message, type: typeOf(status), param, code };
}

/** A fault in the request's body. */
export function invalid(param: string, message: string, code: string): Refusal {
  return refusal(400, message, code, param);
}

export function errorBody(given: Refusal): string {
  const { message, type, param, code } = given;
  return `${JSON.stringify({ error: { message, type, param, code } }, null, 2)}\n`;
}

function typeOf(status: number): string {
  if (status === 429) return 'requests';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

const messages: Record<number, [message: string, code: string | null]> = {
  400: ['Your request was malformed.', 'invalid_request'],
  401: ['Incorrect API key provided.', 'invalid_api_key'],
  403: ['Your account is not permitted to do this.', 'forbidden'],
  404: ['The requested resource was not found.', 'not_found'],
  408: ['The request took too long to arrive.', 'request_timeout'],
  409: ['The resource is being changed.', 'conflict'],
  413: ['The request is too large.', 'request_too_large'],
  422: ['The request could not be processed.', 'unprocessable'],
  429: ['Rate limit reached for requests. Please try again later.', 'rate_limit_exceeded'],
  500: ['The server had an error while processing your request.', 'server_error'],
  502: ['Bad gateway.', 'bad_gateway'],
  503: ['The engine is currently overloaded, please try again later.', 'overloaded'],
  504: ['The upstream model did not answer in time.', 'timeout'],
};

/** What the provider says when a fault asks for a bare status. */
export function refusalForStatus(status: number): Refusal {
  const [message, code] = messages[status] ?? [`The request failed with status ${status}.`, null];
  return refusal(status, message, code, null);
}
