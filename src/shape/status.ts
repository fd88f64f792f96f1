import { readStatus } from '../canonical/status.ts';
import type { Json } from '../terms.ts';
import type { ShapeConfig } from './config.ts';
import { isBlank, keyText, type Read, type Scope } from './scope.ts';
import { drift, valuesFor } from './values.ts';

interface Status {
  readonly status: string | null | undefined;
  /** The partner's spelling, if it is not recognised. */
  readonly raw: Json | undefined;
}

const silent: Status = { status: undefined, raw: undefined };
const empty: Status = { status: null, raw: undefined };

/**
 * Looks a spelling up in the connector's values, then among the spellings that need no listing. An unknown spelling is kept; the
 * connector decides whether the record continues as `other` or becomes a dead letter without a status.
 */
export function compileStatus(read: Read, config: ShapeConfig): (scope: Scope) => Status {
  const translate = valuesFor('status', config);
  const unknown = config.unknownStatus === 'other' ? 'other' : undefined;
  return (scope) => {
    const value = read(scope);
    if (value === undefined) return silent;
    if (isBlank(value)) return empty;
    const spelling = keyText(value)?.trim();
    if (spelling === undefined) return { status: undefined, raw: value };
    const mapped = translate?.(spelling);
    if (mapped !== undefined && mapped !== 'other') return { status: mapped, raw: undefined };
    const understood = readStatus(spelling);
    if (understood !== undefined) return { status: understood, raw: undefined };
    if (mapped === 'other') return { status: 'other', raw: spelling };
    drift(scope.root, 'status', spelling);
    return { status: unknown, raw: spelling };
  };
}
