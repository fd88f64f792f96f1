import { isIP } from 'node:net';
import { awsSigner } from '../../../outbound/auth/sigv4.ts';
import type { DestinationServices } from '../../destination.ts';
import type { FileStore, Replaced, StoredFile } from '../../lake/file-store.ts';
import type { Settings } from './settings.ts';

/** Readers skip names that begin with an underscore or a dot. */
const probeName = '_innbound/conditional-writes';
const probeText = 'Written to learn whether conditional writes are honoured.\n';

/** A listing ends after this many pages or characters of names, whatever the service says: 1,000 names make a page. */
const mostPages = 1_000;
const mostCharacters = 64 * 1024 * 1024;

/** There is no answer, or none of S3. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The service refused. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly code: string;
  constructor(status: number, body: string) {
    super();
    this.status = status;
    this.code = /<Code>(\w{1,60})<\/Code>/.exec(body)?.[1] ?? 'no code';
  }
}

interface Asked {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly late?: AbortSignal | undefined;
}

/** A bucket as a place for files. The tag of an object is its ETag. */
export function bucketStore(
  settings: Settings,
  { http, clock }: Pick<DestinationServices, 'http' | 'clock'>,
  deadlineMs: number,
): FileStore {
  const { prefix, encryption, region, credentials } = settings;
  const base = addressOf(settings);
  const sign = awsSigner({ service: 's3', region, credentials });
  const under = prefix === undefined ? '' : `${prefix}/`;

  async function ask(method: string, key: string, { query = {}, headers = {}, body, late }: Asked = {}) {
    const url = new URL(base + key.split('/').map(encoded).join('/'));
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const request = { method, url: url.href, headers, ...(body !== undefined && { body }) };
    const answer = await http.request({
      ...request,
      headers: await sign(request, clock.now()),
      deadlineMs,
      idleMs: deadlineMs,
      expects: method === 'GET' && key !== '' ? 'file' : 'short',
      ...(late && { signal: late }),
    });
    if (answer.kind === 'failed') throw new NoAnswer(answer.reason, answer.message);
    if (answer.status < 300) return answer;
    throw new Refused(answer.status, new TextDecoder().decode(answer.bytes));
  }

  async function put(
    name: string,
    body: Uint8Array | string,
    condition: { readonly 'if-match'?: string; readonly 'if-none-match'?: string },
    late?: AbortSignal,
  ): Promise<Replaced> {
    late?.throwIfAborted();
    try {
      const headers = {
        ...condition,
        'content-type': name.endsWith('.parquet') ? 'application/vnd.apache.parquet' : 'application/x-ndjson',
        ...(encryption && {
          'x-amz-server-side-encryption': encryption.type,
          ...(encryption.key_id !== undefined && { 'x-amz-server-side-encryption-aws-kms-key-id': encryption.key_id }),
        }),
      };
      const { etag } = (await ask('PUT', under + name, { headers, body, late })).headers;
      // A server that is not S3 may answer 200 to anything.
      if (etag === undefined) throw new NoAnswer('protocol', 'the answer to a write has no ETag');
      return { kind: 'written', tag: etag };
    } catch (error) {
      // 409: another conditional write of the same object is in progress. 404: an object that must exist does not.
      const status = statusOf(error);
      if (status === 412 || status === 409 || (condition['if-match'] && status === 404)) return { kind: 'changed' };
      throw error;
    }
  }

  /** Tries it: some S3-compatible services ignore the conditions, others refuse requests with them. */
  async function probe(late: AbortSignal): Promise<boolean> {
    await put(probeName, probeText, {}, late);
    const isRefused = async (condition: Parameters<typeof put>[2]) =>
      put(probeName, probeText, condition, late).then(
        ({ kind }) => kind === 'changed',
        (error: unknown) => {
          if (statusOf(error) === 501 || statusOf(error) === 400) return false;
          throw error;
        },
      );
    return (
      (await isRefused({ 'if-none-match': '*' })) &&
      (await isRefused({ 'if-match': '"00000000000000000000000000000000"' }))
    );
  }
  let guarded: Promise<boolean> | undefined;

  /** Undefined if there is no such object. */
  async function get(method: 'GET' | 'HEAD', name: string, late?: AbortSignal) {
    try {
      const { bytes, headers } = await ask(method, under + name, { late });
      return { bytes, tag: headers.etag ?? '' };
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  return {
    isGuarded: (late) => {
      guarded ??= probe(late);
      guarded.catch(() => {
        guarded = undefined;
      });
      return guarded;
    },
    prepare: async () => {},
    // A bucket holds complete objects only.
    removeAbandoned: async () => {},
    list: async (folder, late) => {
      const files: StoredFile[] = [];
      let next: string | undefined;
      let characters = 0;
      for (let pages = 1; ; pages++) {
        const query = {
          'list-type': '2',
          prefix: folder === '' ? under : `${under}${folder}/`,
          ...(next !== undefined && { 'continuation-token': next }),
        };
        const page = new TextDecoder().decode((await ask('GET', '', { query, late })).bytes);
        const isTruncated = textIn(page, 'IsTruncated');
        if (isTruncated === undefined || !/<\/ListBucketResult>\s*$/.test(page)) {
          throw new NoAnswer('protocol', 'the answer is not one of S3');
        }
        for (const [, object = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
          const key = textIn(object, 'Key') ?? '';
          const name = key.slice(under.length);
          const modifiedAtMs = Date.parse(textIn(object, 'LastModified') ?? '') || 0;
          characters += key.length;
          if (!name.startsWith('_')) files.push({ name, size: Number(textIn(object, 'Size')), modifiedAtMs });
        }
        if (isTruncated !== 'true') return files;
        next = textIn(page, 'NextContinuationToken');
        // Otherwise an erasure would pass over the rest and look complete.
        if (next === undefined) throw new NoAnswer('protocol', 'the listing does not say how to ask for its next page');
        if (pages === mostPages || characters > mostCharacters) {
          throw new NoAnswer('too_large', `the listing exceeds the limit of ${mostPages} pages`);
        }
      }
    },
    read: (name, late) => get('GET', name, late),
    async *pieces(name, late) {
      const copy = await get('GET', name, late);
      if (copy !== undefined) yield copy.bytes;
    },
    replace: async (name, content, expected, late) => {
      if (guarded === undefined || (await guarded)) {
        return put(name, content, expected === 'absent' ? { 'if-none-match': '*' } : { 'if-match': expected }, late);
      }
      // Another node may replace the object between this check and the write; therefore each node writes its own objects.
      if (expected !== 'absent' && (await get('HEAD', name))?.tag !== expected) return { kind: 'changed' };
      return put(name, content, {}, late);
    },
  };
}

/** The address of the bucket, with / at its end. A certificate of the service fits names without further dots only. */
function addressOf({ bucket, region, endpoint, addressing }: Settings): string {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = new URL(endpoint ?? `https://s3.${region}.${domain}`);
  const isInHost =
    addressing === 'virtual_host' &&
    isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 &&
    !(bucket.includes('.') && url.protocol === 'https:');
  if (isInHost) url.hostname = `${bucket}.${url.hostname}`;
  const path = url.pathname.replace(/\/$/, '');
  return `${url.origin}${path}/${isInHost ? '' : `${bucket}/`}`;
}

/** As S3 signs paths: what is not a letter, a digit or one of -._~ is percent-encoded. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

const entities: ReadonlyMap<string, string> = new Map(
  Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }),
);

const textIn = (xml: string, tag: string): string | undefined =>
  new RegExp(`<${tag}>([^<]*)</${tag}>`)
    .exec(xml)?.[1]
    ?.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (all, decimal, hex, name) => {
      if (name !== undefined) return entities.get(name) ?? all;
      const code = Number(hex === undefined ? decimal : `0x${hex}`);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    });

const statusOf = (error: unknown): number | undefined => (error instanceof Refused ? error.status : undefined);
