import type { DocumentCheck } from './check-finding.ts';

/** SHA-1 and MD5 still hold under HMAC, but nothing new should be built on them. */
export const pushChecks: DocumentCheck = ({ connectors }) =>
  [...connectors.values()].flatMap(({ name, body }) => {
    const scheme = body.push?.verification;
    if (scheme?.type !== 'hmac' || (scheme.algorithm !== 'sha1' && scheme.algorithm !== 'md5')) return [];
    const message = `${scheme.algorithm} is outdated: ask the partner for sha256, and use it only if there is nothing better`;
    const document = { kind: 'connector', name } as const;
    return [{ document, path: ['push', 'verification', 'algorithm'], severity: 'warning', message }];
  });
