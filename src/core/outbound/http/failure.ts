/**
 * Why a request has no answer.
 *
 * | reason     | meaning                                                                                       |
 * | timeout    | the deadline or the idle time ran out                                                         |
 * | reset      | the connection broke before the answer was complete                                           |
 * | refused    | nothing listens there, there is no route, or connecting took too long                         |
 * | dns        | the name has no address                                                                       |
 * | tls        | the certificate or the handshake is wrong                                                     |
 * | blocked    | the address is not public and the settings do not allow that, or the URL is not plain http(s) |
 * | too_large  | the body, on the wire or decoded, exceeds the limit                                           |
 * | redirect   | a 3xx, which is never followed                                                                |
 * | protocol   | the bytes are not HTTP, or are in an encoding that we did not accept                          |
 * | unsendable | the request itself is not valid HTTP, such as a line break in a header                        |
 * | aborted    | the caller gave up                                                                            |
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
  | 'unsendable'
  | 'aborted';

const codes: { readonly [Reason in FailureReason]?: readonly string[] } = {
  timeout: ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
  reset: ['UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'],
  refused: ['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  dns: ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'],
  tls: ['EPROTO'],
  protocol: ['UND_ERR_HEADERS_OVERFLOW', 'INNBOUND_UNKNOWN_ENCODING'],
  blocked: ['INNBOUND_BLOCKED_ADDRESS'],
  too_large: ['INNBOUND_TOO_LARGE'],
  unsendable: [
    'UND_ERR_INVALID_ARG',
    'UND_ERR_NOT_SUPPORTED',
    'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
    'ERR_INVALID_CHAR',
    'ERR_INVALID_ARG_TYPE',
  ],
};
const byCode = new Map(
  Object.entries(codes).flatMap(([reason, its]) => its.map((code) => [code, reason as FailureReason])),
);

const tlsCode = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA)/;
/** zlib's codes for a body that ends early or is not in the encoding that its header names. */
const brokenEncoding = /^(Z_|ERR__?ERROR_FORMAT|ERR_BROTLI|ERR__ERROR|ZSTD_)/;

/**
 * The reason behind an error of the client. Undefined for one we do not know: the client's parser checks some answers with
 * assertions (a status of 000 is one), so an unknown error counts as a fault in the answer, not as one of ours.
 */
export function failureReason(error: unknown): FailureReason | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    const known = byCode.get(code);
    if (known !== undefined) return known;
    if (tlsCode.test(code)) return 'tls';
    if (code.startsWith('HPE_') || cause.name === 'HTTPParserError') return 'protocol';
    if (brokenEncoding.test(code)) return code === 'Z_BUF_ERROR' ? 'reset' : 'protocol';
  }
  return undefined;
}
