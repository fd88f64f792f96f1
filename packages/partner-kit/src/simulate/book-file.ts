import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Hotel, HotelBook } from './hotel.ts';

/** The saved reservations; undefined if there are none or the file cannot be read, and the hotel then starts from its seed. */
export function readBook(file: string): HotelBook | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as HotelBook;
  } catch {
    return undefined;
  }
}

/** Saves the reservations shortly after each change, and on close. A kill loses at most one second of changes. */
export function keepBook(hotel: Hotel, file: string): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    timer = undefined;
    try {
      writeFileSync(`${file}.new`, JSON.stringify(hotel.written()));
      renameSync(`${file}.new`, file);
    } catch {
      // A full disk or a deleted folder must not stop the simulator; the next change tries again.
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
