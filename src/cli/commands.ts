import type { Command } from 'commander';
import { registerAlert } from './alert.ts';
import { registerAlerts } from './alerts.ts';
import { registerApply } from './apply.ts';
import { registerConsent } from './consent.ts';
import { registerDeadLetters } from './dead-letters.ts';
import { registerDemo } from './demo.ts';
import { registerDestination } from './destination.ts';
import { registerDoctor } from './doctor.ts';
import { registerEndpoint } from './endpoint.ts';
import { registerErase } from './erase.ts';
import { registerExport } from './export.ts';
import { registerImport } from './import.ts';
import { registerInit } from './init.ts';
import { registerKey } from './key.ts';
import { registerListen } from './listen.ts';
import { registerMap } from './map.ts';
import { registerPartner } from './partner.ts';
import { registerProfile } from './profile.ts';
import { registerRefetch } from './refetch.ts';
import { registerReprocess } from './reprocess.ts';
import { registerResend } from './resend.ts';
import { registerReservation } from './reservation.ts';
import { registerRestored } from './restored.ts';
import { registerRuns } from './runs.ts';
import { registerSecret } from './secret.ts';
import { registerServe } from './serve.ts';
import { registerSuggest } from './suggest.ts';
import { registerSync } from './sync.ts';
import { registerToken } from './token.ts';
import { registerValidate } from './validate.ts';

/** In the order of the help text: first steps, then daily work. */
export const commands: readonly ((program: Command) => void)[] = [
  registerDemo,
  registerInit,
  registerValidate,
  registerApply,
  registerServe,
  registerDoctor,
  registerSync,
  registerRuns,
  registerEndpoint,
  registerListen,
  registerConsent,
  registerImport,
  registerSuggest,
  registerMap,
  registerReservation,
  registerDeadLetters,
  registerProfile,
  registerRefetch,
  registerDestination,
  registerResend,
  registerReprocess,
  registerRestored,
  registerAlerts,
  registerAlert,
  registerSecret,
  registerKey,
  registerErase,
  registerExport,
  registerToken,
  registerPartner,
];
