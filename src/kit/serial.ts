/** Runs tasks one at a time, in the order in which they were given. A task that fails does not stop the next. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T>): Promise<T> {
    const next = this.#last.then(task, task);
    this.#last = next;
    return next;
  }
}
