/**
 * Why a request has no answer.
 * timeout    the deadline or the idle time ran out     reset     the connection broke under way
 * refused    nobody listens, no route, or not reached in time     dns   the name has no address     tls   the certificate or the handshake was wrong
 * blocked    the address is not public and the settings do not allow that; or the URL is not plain http(s)
 * too_large  the body, on the wire or decoded, is over the cap     redirect  a 3xx, which is never followed
 * protocol   the bytes are not HTTP, or in an encoding that was not asked for     aborted   we gave up ourselves
 */
export type FailureReason =
  | 'timeout'
  | 'reset'
  | 'refused'
  | 'dns'
  | 'tls'
  | 'blocked'
  | 'too_large'
  | 'redirect'
  | 'protocol'
  | 'aborted';

const byCode: Readonly<Record<string, FailureReason>> = {
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  ECONNREFUSED: 'refused',
  UND_ERR_CONNECT_TIMEOUT: 'refused',
  ETIMEDOUT: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EPROTO: 'tls',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  INNBOUND_UNKNOWN_ENCODING: 'protocol',
  INNBOUND_BLOCKED_ADDRESS: 'blocked',
  INNBOUND_TOO_LARGE: 'too_large',
};

const tlsCode = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA)/;
/** What zlib says of a body that ends early or is not what its header promised. */
const brokenEncoding = /^(Z_|ERR__?ERROR_FORMAT|ERR_BROTLI|ERR__ERROR|ZSTD_)/;

/** The reason behind whatever the client threw; undefined for what is no failure of the exchange but a fault of ours. */
export function failureReason(error: unknown): FailureReason | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    const known = byCode[code];
    if (known !== undefined) return known;
    if (tlsCode.test(code)) return 'tls';
    if (code.startsWith('HPE_') || cause.name === 'HTTPParserError') return 'protocol';
    if (brokenEncoding.test(code)) return code === 'Z_BUF_ERROR' ? 'reset' : 'protocol';
  }
  return undefined;
}
