import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Hotel, HotelBook } from './hotel.ts';

/** The book as it was left, or undefined where there is none (or none that can be read: the hotel then opens anew). */
export function readBook(file: string): HotelBook | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as HotelBook;
  } catch {
    return undefined;
  }
}

/** Keeps the book on disk: a moment after each change, and when it is closed. A kill loses a second of the hotel's life at most. */
export function keepBook(hotel: Hotel, file: string): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    timer = undefined;
    try {
      writeFileSync(`${file}.new`, JSON.stringify(hotel.written()));
      renameSync(`${file}.new`, file);
    } catch {
      // A full disk or a deleted folder ends no hotel; the next change tries again.
    }
  };
  write();
  const stop = hotel.onChange(() => {
    timer ??= setTimeout(write, 1_000);
  });
  return {
    close: () => {
      stop();
      clearTimeout(timer);
      write();
    },
  };
}
