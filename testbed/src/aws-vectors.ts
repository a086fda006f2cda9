/**
 * AWS's published test suite for Signature Version 4: requests, and the signatures that they have with the suite's key, in the scope
 * `us-east-1/service` at 2015-08-30 12:36:00 UTC.
 */
interface AwsVector {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Besides `host` and `x-amz-date`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly sessionToken?: string;
  readonly signedHeaders: string;
  readonly signature: string;
}

export const VECTOR_KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
} as const;
export const VECTOR_SCOPE = { region: 'us-east-1', service: 'service' } as const;
export const VECTOR_HOST = 'example.amazonaws.com';
export const VECTOR_MS = Date.UTC(2015, 7, 30, 12, 36, 0);

const UNRESERVED = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const get = { method: 'GET', signedHeaders: 'host;x-amz-date' } as const;
const post = { method: 'POST', path: '/', signedHeaders: 'host;x-amz-date' } as const;

export const awsVectors: readonly AwsVector[] = [
  {
    ...get,
    name: 'get-vanilla',
    path: '/',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    ...get,
    name: 'get-vanilla-query-order-key-case',
    path: '/?Param2=value2&Param1=value1',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  {
    ...get,
    name: 'get-vanilla-empty-query-key',
    path: '/?Param1=value1',
    signature: 'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  },
  {
    ...get,
    name: 'get-vanilla-query-unreserved',
    path: `/?${UNRESERVED}=${UNRESERVED}`,
    signature: '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  },
  {
    ...get,
    name: 'get-vanilla-utf8-query',
    path: '/?ሴ=bar',
    signature: '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  },
  {
    ...get,
    name: 'get-unreserved',
    path: `/${UNRESERVED}`,
    signature: '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  },
  {
    ...get,
    name: 'get-utf8',
    path: '/ሴ',
    signature: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
  },
  {
    ...get,
    name: 'get-header-value-trim',
    path: '/',
    headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
    signedHeaders: 'host;my-header1;my-header2;x-amz-date',
    signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  },
  {
    ...post,
    name: 'post-vanilla',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  {
    ...post,
    name: 'post-vanilla-query',
    path: '/?Param1=value1',
    signature: '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
  },
  {
    ...post,
    name: 'post-header-key-sort',
    headers: { 'my-header1': 'value1' },
    signedHeaders: 'host;my-header1;x-amz-date',
    signature: 'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  },
  {
    ...post,
    name: 'post-header-value-case',
    headers: { 'my-header1': 'VALUE1' },
    signedHeaders: 'host;my-header1;x-amz-date',
    signature: 'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
  },
  {
    ...post,
    name: 'post-x-www-form-urlencoded',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'Param1=value1',
    signedHeaders: 'content-type;host;x-amz-date',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
  {
    ...post,
    name: 'post-x-www-form-urlencoded-parameters',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf8' },
    body: 'Param1=value1',
    signedHeaders: 'content-type;host;x-amz-date',
    signature: '1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe',
  },
  {
    ...post,
    name: 'post-sts-header-before',
    sessionToken:
      'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==',
    signedHeaders: 'host;x-amz-date;x-amz-security-token',
    signature: '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  },
];
