/** Reads what an endpoint answered. Never fails: an unreadable answer yields nothing. */

/** The first 16 KiB: an endless answer must not fill the sender's memory. */
export async function startOf(response: Response): Promise<string> {
  if (response.body === null) return '';
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= 16_384) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function saysDuplicate(answer: string): boolean {
  return field(answer, 'status') === 'duplicate';
}

/** The stable code of a problem document, for display after the status: ` (push.signature)`. Free text is omitted: it may be a whole page. */
export function reason(answer: string): string {
  const code = field(answer, 'code');
  return typeof code === 'string' && /^[\w.-]{1,60}$/.test(code) ? ` (${code})` : '';
}

function field(answer: string, name: string): unknown {
  try {
    const parsed: unknown = JSON.parse(answer);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}

/** Why fetch failed: its message says only "fetch failed"; the cause has the code. */
export function cause(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  if (error.name === 'TimeoutError') return 'timed out';
  const inner = error.cause;
  if (inner instanceof Error) return (inner as NodeJS.ErrnoException).code ?? inner.message;
  return error.message;
}
