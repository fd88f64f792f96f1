import type { ApiPorts } from '../api/api.ts';
import { eraseGuest, findReceipts, previewErasure, receiptOf } from '../operations/erase-guest.ts';
import { exportGuest } from '../operations/export-guest.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { listErasures, readErasure, stopErasure } from '../store/erasure/erasures.ts';

export function privacyPorts(runtime: Runtime): ApiPorts['privacy'] {
  return {
    erase: (request, by) => eraseGuest(runtime, request, by),
    preview: (request) => previewErasure(runtime, request),
    export: (request) => exportGuest(runtime, request),
    list: async (page) => (await listErasures(runtime.pool, page)).map(receiptOf),
    find: (request) => findReceipts(runtime, request),
    read: async (id) => {
      const row = await readErasure(runtime.pool, id);
      return row && receiptOf(row);
    },
    stop: (id, by) => stopErasure(runtime.pool, id, by),
  };
}
