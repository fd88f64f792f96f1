import { z } from 'zod';
import { secretText } from '../../documents/scalars.ts';
import { publicLookup } from '../../outbound/http/connect.ts';

/** TLS of a connection that is not HTTP. */
export const tlsSetting = () =>
  z.union([
    z.boolean(),
    z.strictObject({
      ca: z.string().min(1).optional().describe('Certificate authorities in PEM, instead of the usual ones.'),
      cert: z.string().min(1).optional().describe('Our certificate in PEM, for mutual TLS.'),
      key: secretText().optional().describe('The key of our certificate in PEM.'),
    }),
  ]);

export type TlsSetting = z.infer<ReturnType<typeof tlsSetting>>;

export function tlsOptions(tls: TlsSetting | undefined): { ca?: string; cert?: string; key?: string } {
  const { ca, cert, key } = typeof tls === 'object' ? tls : {};
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}

/** Options for `net.connect` and `tls.connect`: names that are private get no connection. */
export const guardedNames = (allowPrivate: boolean) => (allowPrivate ? {} : { lookup: publicLookup });

export const isLoopback = (host: string): boolean => /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
