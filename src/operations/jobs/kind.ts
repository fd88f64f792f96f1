import type { Runtime } from '../../runtime/runtime.ts';
import type { Json } from '../../terms.ts';

/** What a job would do, before it starts. Samples may hold guest data. */
export interface JobPreview {
  /** How many records it would process. */
  readonly total: number;
  /** How many of them `counts` is based on; null if all. */
  readonly looked_at: number | null;
  readonly counts: readonly { readonly label: string; readonly count: number }[];
  readonly samples: readonly {
    readonly integration: string;
    readonly id: string;
    readonly text: string | null;
    readonly diff: Json;
  }[];
}

export interface JobStep {
  readonly done: number;
  /** To add to the job's counts. */
  readonly counts: { readonly [outcome: string]: number };
  /** Records that it did not process, and why. */
  readonly refusals?: readonly { readonly id: string; readonly reason: string }[];
  /** Where the next step continues; undefined when nothing is left. */
  readonly position: Json | undefined;
}

/**
 * An operation on many records, in steps of about a second. A step may be repeated after a crash, so repeating one must change nothing.
 */
export interface JobKind<Request> {
  readonly preview: (runtime: Runtime, request: Request) => Promise<JobPreview>;
  /** The request as it is stored, with its total and the brands that it concerns (null: all). */
  readonly start: (
    runtime: Runtime,
    request: Request,
  ) => Promise<{ readonly request: Request; readonly total: number; readonly integrations: readonly string[] | null }>;
  readonly step: (
    runtime: Runtime,
    request: Request,
    position: Json,
    context: {
      readonly by: string;
      readonly signal: AbortSignal;
      /** How many records to process instead of the usual number: fewer after a step that took too long. */
      readonly atMost: (usual: number) => number;
    },
  ) => Promise<JobStep>;
}
