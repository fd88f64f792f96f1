interface Timer {
  readonly atMs: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/**
 * Virtual time. A timer runs when all effects of earlier ones are done: every promise in the simulated nodes is settled by
 * another promise or by a timer, never by the outside world, so they are all settled before the next immediate runs.
 */
export class VirtualTime {
  nowMs: number;
  steps = 0;
  readonly #heap: Timer[] = [];
  #order = 0;

  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  /** Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void {
    const timer: Timer = { atMs: this.nowMs + Math.max(0, ms), order: this.#order++, run };
    this.#push(timer);
    return () => {
      timer.run = undefined;
    };
  }

  /** Lets time pass until the condition holds; false if it does not within the limit. */
  until(isDone: () => boolean, limitMs: number): Promise<boolean> {
    const end = this.nowMs + limitMs;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    let isOver = false;
    const step = (): void => {
      if (isOver) return;
      try {
        const result = isDone() || this.#step(end);
        if (result === 'stepped') return;
        isOver = true;
        resolve(result);
      } catch (error) {
        isOver = true;
        reject(error);
      }
    };
    // Node settles all promises between two immediates of one turn. A separate turn for each step took a tenth of the time.
    const turn = (): void => {
      if (isOver) return;
      for (let i = 0; i < stepsPerTurn; i++) setImmediate(step);
      setImmediate(turn);
    };
    turn();
    return promise;
  }

  /** Runs the next timer; false if there is none until `endMs`. */
  #step(endMs: number): 'stepped' | false {
    const timer = this.#pop();
    if (timer === undefined) return false;
    if (timer.atMs > endMs) {
      this.#push(timer);
      return false;
    }
    this.nowMs = timer.atMs;
    this.steps += 1;
    timer.run?.();
    return 'stepped';
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(timer, heap[parent] as Timer)) break;
      heap[at] = heap[parent] as Timer;
      at = parent;
    }
    heap[at] = timer;
  }

  /** Cancelled timers are skipped. */
  #pop(): Timer | undefined {
    for (;;) {
      const timer = this.#popAny();
      if (timer === undefined || timer.run !== undefined) return timer;
    }
  }

  #popAny(): Timer | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child += 1;
      if (!isBefore(heap[child] as Timer, last)) break;
      heap[at] = heap[child] as Timer;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const stepsPerTurn = 64;

const isBefore = (a: Timer, b: Timer): boolean => (a.atMs === b.atMs ? a.order < b.order : a.atMs < b.atMs);
