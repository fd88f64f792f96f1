import type { SignatureV4 } from '@smithy/signature-v4';
import type { EpochMs } from '../../../terms.ts';

export interface AwsIdentity {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly session_token?: string | undefined;
}

interface Scope {
  readonly service: string;
  readonly region: string;
  /** `machine`: the role of the machine or container, or the AWS_ variables, found as AWS's own tools do. */
  readonly credentials: AwsIdentity | 'machine';
}

export interface AwsRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Signs requests to AWS (Signature Version 4) with AWS's own signer, which is loaded for the first one. */
export function awsSigner(scope: Scope): (request: AwsRequest, now: EpochMs) => Promise<Record<string, string>> {
  let loaded: Promise<SignatureV4> | undefined;
  return async ({ method, url, headers, body }, now) => {
    loaded ??= load(scope);
    const { protocol, hostname, host, port, pathname: path, searchParams } = new URL(url);
    const query = Object.fromEntries(searchParams);
    const request = { method, protocol, hostname, path, query, headers: { ...headers, host }, body };
    const signed = await (await loaded).sign(port === '' ? request : { ...request, port: Number(port) }, {
      signingDate: new Date(now),
    });
    return signed.headers;
  };
}

async function load({ service, region, credentials }: Scope): Promise<SignatureV4> {
  const [{ SignatureV4 }, { Sha256Node }] = await Promise.all([
    import('@smithy/signature-v4'),
    import('@smithy/core/checksum'),
  ]);
  const identity =
    credentials === 'machine'
      ? (await import('@aws-sdk/credential-provider-node')).defaultProvider()
      : {
          accessKeyId: credentials.access_key_id,
          secretAccessKey: credentials.secret_access_key,
          ...(credentials.session_token !== undefined && { sessionToken: credentials.session_token }),
        };
  // S3 signs paths as they are sent; all others are just a /.
  return new SignatureV4({ service, region, credentials: identity, sha256: Sha256Node, uriEscapePath: false });
}
