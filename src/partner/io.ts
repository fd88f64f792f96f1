/** Where a command of the kit speaks. Results and talk are kept apart, so that one can be piped and the other read. */
export interface Io {
  /** A line of the result. */
  readonly out: (text: string) => void;
  /** A line for the person on the way. */
  readonly say: (text: string) => void;
  /** Replaces the line that was last shown so, on a terminal; nothing elsewhere. */
  readonly progress: (text: string) => void;
  readonly colour: boolean;
  /** Resolves when the person ends the command. */
  readonly ended: () => Promise<void>;
}
