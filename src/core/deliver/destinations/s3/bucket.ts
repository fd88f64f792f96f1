import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type { Http } from '../../../outbound/http.ts';
import type { FileStore, Replaced, StoredFile } from '../../lake/file-store.ts';
import { NoAnswer, requestHandler } from './requests.ts';
import type { Settings } from './settings.ts';

/** Readers skip names that begin with an underscore or a dot. */
const probeName = '_innbound/conditional-writes';
const probeText = 'Written to learn whether conditional writes are honoured.\n';

/** A listing ends after this many pages or characters of names, whatever the service says: 1,000 names make a page. */
const mostPages = 1_000;
const mostCharacters = 64 * 1024 * 1024;

/** A bucket as a place for files. The tag of an object is its ETag. */
export function bucketStore(settings: Settings, http: Http, deadlineMs: number): FileStore & { close(): void } {
  const client = clientFor(settings, http, deadlineMs);
  const { bucket: Bucket, prefix, encryption } = settings;
  const under = prefix === undefined ? '' : `${prefix}/`;
  const signalled = (late: AbortSignal | undefined) => (late ? { abortSignal: late } : {});
  /** Rejects with the service's error or with NoAnswer, never with what its text made of the parser. */
  const send = (async (...asked: Parameters<typeof client.send>) => {
    try {
      return await client.send(...asked);
    } catch (error) {
      if (error instanceof S3ServiceException || error instanceof NoAnswer) throw error;
      throw new NoAnswer('protocol', 'the answer is not one of S3');
    }
  }) as typeof client.send;

  async function put(
    name: string,
    Body: Uint8Array | string,
    condition: Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'>,
    late?: AbortSignal,
  ): Promise<Replaced> {
    late?.throwIfAborted();
    try {
      const { ETag } = await send(
        new PutObjectCommand({
          Bucket,
          Key: under + name,
          Body,
          ...condition,
          ContentType: name.endsWith('.parquet') ? 'application/vnd.apache.parquet' : 'application/x-ndjson',
          ...(encryption && {
            ServerSideEncryption: encryption.type,
            ...(encryption.key_id !== undefined && { SSEKMSKeyId: encryption.key_id }),
          }),
        }),
        signalled(late),
      );
      // A server that is not S3 may answer 200 to anything.
      if (ETag === undefined) throw new NoAnswer('protocol', 'the answer to a write has no ETag');
      return { kind: 'written', tag: ETag };
    } catch (error) {
      // 409: another conditional write of the same object is in progress. 404: an object that must exist does not.
      if (statusOf(error) === 412 || statusOf(error) === 409 || (condition.IfMatch && statusOf(error) === 404)) {
        return { kind: 'changed' };
      }
      throw error;
    }
  }

  /** Tries it: some S3-compatible services ignore the conditions, others refuse requests with them. */
  async function probe(late: AbortSignal): Promise<boolean> {
    await put(probeName, probeText, {}, late);
    const isRefused = async (condition: Pick<PutObjectCommandInput, 'IfMatch' | 'IfNoneMatch'>) =>
      put(probeName, probeText, condition, late).then(
        ({ kind }) => kind === 'changed',
        (error: unknown) => {
          if (statusOf(error) === 501 || statusOf(error) === 400) return false;
          throw error;
        },
      );
    return (
      (await isRefused({ IfNoneMatch: '*' })) && (await isRefused({ IfMatch: '"00000000000000000000000000000000"' }))
    );
  }
  let guarded: Promise<boolean> | undefined;

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
        const page = await send(
          new ListObjectsV2Command({
            Bucket,
            Prefix: folder === '' ? under : `${under}${folder}/`,
            ...(next !== undefined && { ContinuationToken: next }),
          }),
          signalled(late),
        );
        for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
          const name = Key.slice(under.length);
          characters += Key.length;
          if (!name.startsWith('_')) files.push({ name, size: Size, modifiedAtMs: LastModified?.getTime() ?? 0 });
        }
        if (!page.IsTruncated) return files;
        next = page.NextContinuationToken;
        // Otherwise an erasure would pass over the rest and look complete.
        if (next === undefined) throw new NoAnswer('protocol', 'the listing does not say how to ask for its next page');
        if (pages === mostPages || characters > mostCharacters) {
          throw new NoAnswer('too_large', `the listing exceeds the limit of ${mostPages} pages`);
        }
      }
    },
    read: (name, late) => get(name, late),
    async *pieces(name, late) {
      const copy = await get(name, late);
      if (copy !== undefined) yield copy.bytes;
    },
    replace: async (name, content, expected, late) => {
      if (guarded === undefined || (await guarded)) {
        return put(name, content, expected === 'absent' ? { IfNoneMatch: '*' } : { IfMatch: expected }, late);
      }
      // Another node may replace the object between this check and the write; therefore each node writes its own objects.
      if (expected !== 'absent' && (await tagOf(name)) !== expected) return { kind: 'changed' };
      return put(name, content, {}, late);
    },
    close: () => client.destroy(),
  };

  async function tagOf(name: string): Promise<string | undefined> {
    try {
      return (await send(new HeadObjectCommand({ Bucket, Key: under + name }))).ETag;
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  async function get(name: string, late?: AbortSignal): Promise<{ bytes: Uint8Array; tag: string } | undefined> {
    try {
      const { Body, ETag } = await send(new GetObjectCommand({ Bucket, Key: under + name }), signalled(late));
      return { bytes: (await Body?.transformToByteArray()) ?? new Uint8Array(), tag: ETag ?? '' };
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }
}

function clientFor(settings: Settings, http: Http, deadlineMs: number): S3Client {
  const { region, endpoint, addressing, credentials } = settings;
  return new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint }),
    forcePathStyle: addressing === 'path',
    // AWS's own tools look for the identity of the machine, also at its metadata address: our client does not see those requests.
    ...(credentials !== 'machine' && {
      credentials: {
        accessKeyId: credentials.access_key_id,
        secretAccessKey: credentials.secret_access_key,
        ...(credentials.session_token !== undefined && { sessionToken: credentials.session_token }),
      },
    }),
    requestHandler: requestHandler(http, deadlineMs) as NonNullable<
      ConstructorParameters<typeof S3Client>[0]
    >['requestHandler'] &
      object,
    // The outbox retries, and knows that a write may have arrived.
    maxAttempts: 1,
    // Other services do not support the checksums that S3 uses by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
