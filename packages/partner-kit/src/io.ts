/** The output of a partner command. Results and messages are separate, so that results can be piped. */
export interface Io {
  /** A line of the result. */
  readonly out: (text: string) => void;
  /** A message for the user. */
  readonly say: (text: string) => void;
  /** Replaces the last progress line on a terminal; does nothing elsewhere. */
  readonly progress: (text: string) => void;
  readonly colour: boolean;
  /** Resolves when the user stops the command. */
  readonly ended: () => Promise<void>;
}
