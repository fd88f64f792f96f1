import { foldSpelling, readStatus, type Status } from '../../../src/core/canonical/values.ts';

/** Spellings from public API descriptions, folded: no case, no separators. */

const statuses: Readonly<Record<Status, string>> = {
  confirmed:
    'confirmed conf modification modificationofbooking modificationofreservation book commit modify modified amended reserved definite guaranteed booked duein expected ok new arrival accepted active bestatigt res r confirme confirmee confirmada confirmado confermata confermato bevestigd hk garantie garantizada nonguaranteed fix garantiert prenotata ativa activa aktiv actif active gebucht geboekt fest bekraftad bekraeftet bekreftet potwierdzona potwierdzony vigente reserviert reservada',
  checked_in:
    'checkedin onboard inhouse inh arr started arrived movedin dueout occupied checkin ci ih staying hosted eingecheckt resident inresidence stay current enmaison enhotel alojado alojada hospedado hospedada ensejour ingecheckt incasa presente walkin registered pendingcheckout in angereist angekommen encasa emcasa encurso encours belegt entrada arrive arrivee arrivata arrivato chegou alloggiato occupata aanwezig imhaus',
  checked_out:
    'checkedout done left processed departed dep part movedout checkout co completed closed archived history finished past ausgecheckt stayed parti partie uitgecheckt partito partita finalizada finalizado encerrada encerrado cerrada fechada salido saida out abgereist salida saiu partida terminee termine terminada terminado conclusa concluida concluido vertrokken beendet',
  cancelled:
    'cancelled canceled ann cancellation cancelation cxl can cancel void voided deleted declined expired rejected storniert annule annulee anulada anulado cancelada cancelado annullata annullato geannuleerd gecanceld avbokad aflyst avbestilt anulowana anulowany xx x denied released',
  no_show:
    'noshow ns noshows ghosted didnotcome didnotarrive neverarrived nonpresente nonpresentado nopresentado nichtangereist nichterschienen nonarrivata nonarrivato nietverschenen naocompareceu nonpresentato',
  other:
    'inquiry provisional notaccepted inquired enquired enquiry requested request optional option tentative pending waitlist waitlisted notconfirmed unconfirmed prospect awaitingpayment prereserved hold onhold draft quote offer enattente pendiente opcion opzione inattesa optie onrequest walked maintenance stopsell owneroccupied pencil',
};
const byStatus = table(statuses);

const boards = table({
  room_only:
    'ro ov roomonly none accommodationonly oo ep nomeals nurubernachtung sa solopernottamento soloalojamiento chambreseule logies',
  bed_and_breakfast:
    'bb uf breakfast bedandbreakfast bedbreakfast bnb breakfastincluded ad cp fruhstuck pdj petitdejeuner desayuno colazione ontbijt',
  half_board: 'hb hp halfboard mp map halbpension mediapension demipension halfpension mezzapensione dp',
  full_board: 'fb fullboard pc ap vollpension pensioncompleta pensioncomplete volpension pensionecompleta vp',
  all_inclusive: 'ai allinclusive allinc ti todoincluido toutinclus',
});

const documents = table({
  passport: 'passport passportnumber pp pass reisepass pasaporte passaporto passeport paspoort',
  id_card:
    'idcard id identitycard identity nationalid dni personalausweis nie carteidentite cartaidentita documentoidentidad identiteitskaart',
  driving_license:
    'driverlicense drivinglicense drivinglicence driverlicence dl driverlicensenumber drivinglicensenumber fuhrerschein',
  residence_permit: 'residencepermit residencepermitnumber aufenthaltstitel',
  visa: 'visa visanumber',
  social_insurance: 'socialinsurance socialinsurancenumber',
});

function table<Name extends string>(entries: Readonly<Record<Name, string>>): ReadonlyMap<string, Name> {
  const names = new Map<string, Name>();
  for (const name of Object.keys(entries) as Name[])
    for (const spelling of [foldSpelling(name), ...entries[name].split(' ')]) names.set(spelling, name);
  return names;
}

export function guessStatus(spelling: string): Status | undefined {
  return (
    statedStatus(spelling) ?? (/^(?:reservation|booking)$/.test(folded(spelling)) ? ('confirmed' as const) : undefined)
  );
}

/** The status that a spelling states by itself; `booking` beside `cancellation` only names the kind of record. */
export function statedStatus(spelling: string): Status | undefined {
  return readStatus(spelling) ?? byStatus.get(folded(spelling)) ?? byForm(folded(spelling)) ?? byWord(spelling);
}

/** Abbreviations and compounds, such as CANC, guestcheckedin and cancelledbyguest; not requests or waiting lists. */
function byForm(text: string): Status | undefined {
  if (text.length > 24 || unsure.test(text)) return undefined;
  return forms.find(([form]) => form.test(text))?.[1];
}

/** A phrase with one word that states a status: client arrivé. */
function byWord(spelling: string): Status | undefined {
  const words = spelling.split(/[^\p{L}]+/u).filter((word) => word.length > 4);
  const meanings = new Set(words.map((word) => byStatus.get(folded(word))).filter((one) => one && one !== 'other'));
  return meanings.size === 1 && !unsure.test(folded(spelling)) ? [...meanings][0] : undefined;
}

const unsure = /pend|request|await|^not|^un|fail|partial|link|policy/;
const forms: readonly (readonly [RegExp, Status])[] = [
  [/^canc|cancel|^cnx|^cxl|^ann?ul|^storn/, 'cancelled'],
  [/^no?sh|noshow/, 'no_show'],
  [/checkedout|checkout|chkout|utsjekk|^depart/, 'checked_out'],
  [/checkedin|checkin|chkin|innsjekk|inhouse|^resident/, 'checked_in'],
  [/^confirm|confirmed$|^cfm/, 'confirmed'],
];

export function guessBoard(spelling: string): string | undefined {
  const text = folded(spelling);
  return boards.get(text) ?? boardForms.find(([form]) => form.test(text))?.[1];
}
/** Words in a phrase: logies en ontbijt, meia pensão. */
const boardForms: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:no|without|ohne|sans|sin|sem|senza|zonder)(?:meal|breakfast|fruh|repas|pet|com|des|ref|past|col|maal|ont)/,
    'room_only',
  ],
  [/allincl|todoincl|tuttoincl|tudoincl|toutcompris|toutincl/, 'all_inclusive'],
  [/^(?:half|halb|media|meia|demi|mezza).*(?:board|pension|pensao)/, 'half_board'],
  [/^(?:full|voll|vol).*(?:board|pension)|(?:pension|pensao|pensione)compl/, 'full_board'],
  [/breakfast.*lunch.*dinner/, 'full_board'],
  [/breakfast.*(?:dinner|lunch)/, 'half_board'],
  [/breakfast|fruhstuck|petitdej|desayuno|colazione|ontbijt|pequenoalmoco|cafedamanha/, 'bed_and_breakfast'],
  [/roomonly|nuruber|soloaloj|soaloj|solopern|chambreseule|logementseul|solohabit/, 'room_only'],
];

/** Yes and no in other languages than English, which the canonical field understands itself. */
export function guessConsent(spelling: string): 'true' | 'false' | undefined {
  if (/^(?:ja|j|si|sim|s|oui|o|aktiv)$/.test(folded(spelling))) return 'true';
  return /^(?:nein|nee|non|nao)$/.test(folded(spelling)) ? 'false' : undefined;
}

export function guessDocument(spelling: string): string | undefined {
  return documents.get(folded(spelling));
}

/** Also removes accents: bestätigt becomes bestatigt. */
function folded(spelling: string): string {
  return foldSpelling(spelling.normalize('NFD').replace(/\p{M}/gu, ''));
}
