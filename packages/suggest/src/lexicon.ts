import { listFields, reservationFields } from '../../../src/core/canonical/fields.ts';
import { type Phrase, phrases, wordSet } from './words.ts';

/** Partners' names for our fields, collected from public API descriptions; mostly English, with German, French, Spanish, Italian and Dutch. */

export interface Lexeme {
  readonly phrases: readonly Phrase[];
  /** Words that mean a different field. */
  readonly not: ReadonlySet<string>;
}

/** `check in, arrival:0.95 not: actual modified`. */
function lexeme(text: string): Lexeme {
  const [named = '', not = ''] = text.split(/\s+not: /);
  return { phrases: phrases(named), not: wordSet(not) };
}

/** A field without words of its own is found by its name. */
function lexiconOf<Name extends string>(
  fields: Readonly<Record<Name, unknown>>,
  texts: { readonly [Field in Name]?: string },
): Readonly<Record<Name, Lexeme>> {
  const names = Object.keys(fields) as Name[];
  const entries = names.map((name) => [name, lexeme(texts[name] ?? name.replaceAll('_', ' '))]);
  return Object.fromEntries(entries) as Record<Name, Lexeme>;
}

const arrival = `check in, check in date, arrival, arrival date, arrive:0.9, start date:0.8, start:0.7, from:0.6, date from:0.7, begin:0.6, begin date:0.8, stay from:0.8, anreise, arrivee, llegada, entrada:0.8, arrivo, date arrival, first night:0.8, arrives on, arrives:0.95, arriving:0.9, date arrivee, fecha entrada, fecha llegada, data arrivo, data entrada, aankomst, aankomstdatum, arrivo, check in on, first day:0.7
  not: actual original expected modified created time rate service slice birth`;
const departure = `check out, check out date, departure, departure date, depart:0.9, leave:0.9, leaving:0.8, end date:0.8, end:0.7, to:0.6, date to:0.7, until:0.7, stay to:0.8, abreise, depart, salida:0.9, partenza, last night:0.6, departs on, departs:0.95, departing:0.9, date depart, fecha salida, data partenza, data saida, vertrek, vertrekdatum, check out on, till:0.7, leaves on:0.9, last day:0.6
  not: actual original expected modified created time rate service slice`;

export const reservationLexicon = lexiconOf(reservationFields, {
  id: `id:0.9, trip id:0.95, reservation code:0.78, reservation id, reservation:0.85, booking id:0.85, res id, res no:0.95, reservation no:0.95, reservation number:0.9, booking number:0.75, resid:0.9, reservation uuid:0.9, pkey:0.8, uuid:0.85, guid:0.8, key:0.5, uid:0.7, ref:0.65, reference:0.55, reservation key:0.8, buchungsnummer:0.8, reservierungsnummer:0.9, booking uid:0.85, dossier:0.8, numero dossier:0.9, numero reserva:0.9, numero prenotazione:0.9, codice prenotazione:0.85, localizador:0.75, unique id:0.85, object id:0.85, boekingsnummer:0.8, buchungsnr:0.8, folio number:0.6, folio:0.62, number:0.6
    not: guest customer room rate source channel external group owner account hotel property profile user creator updater company agency agent voucher listing party block third allotment segment pitch bed unit dorm line item charge order rental apartment accommodation inquiry contact client person booker relation member status state human ota house villa cabin email traveler traveller conversation thread message trade payment transaction`,
  confirmation_number: `confirmation number, hotel confirmation code:0.9, hotel confirmation number:0.9, source confirmation:0.75, confirm number, confirm no, ota reservation id:0.75, ota booking id:0.75, booking ref:0.85, book ref:0.85, book number:0.8, reservation ref:0.8, res id value:0.8, human id:0.75, platform id:0.72, channel reservation id:0.72, channel reservation code:0.86, channel booking code:0.86, channel booking reference:0.8, channel reference:0.75, channel booking id:0.75, external reservation id:0.65, external booking id:0.65, booking reference id:0.9, third party reference:0.65, external reference:0.72, order id:0.7, order number:0.75, order reference:0.75, external confirmation:0.8, ref number:0.8, reference number:0.85, client ref:0.75, ota ref:0.75, ota reference:0.75, channel ref:0.75, client reference:0.7, agency reference:0.7, api reference:0.8, alternates:0.66, alternate:0.66, confirmation, confirmation code, reservation code:0.85, confirmation no, conf no, confirmation id, locator:0.9, pnr:0.9, refer:0.65, booking reference:0.9, reference:0.7, booking number:0.85, booking code:0.8, booking id:0.72, reservation number:0.8, number:0.65, bookingid:0.7, record locator, human reference:0.75, agent reference:0.7, public reference:0.75, code:0.58, codice:0.58, codigo:0.58, localizador:0.7, voucher:0.75, voucher number:0.8
    not: guest customer room phone document passport channel external source third identification origin house persons guests adults adult children nights pitch bed unit dorm line item charge rate currency country status type tariff tarif tarifa package plan price parent master group door agent agency company property hotel board meal reward rewards loyalty membership program service inventory coupon promo promotion date time postal zip trade payment transaction`,
  check_in: arrival,
  check_out: departure,
  booking_date: `booking date, reserved on:0.9, reserved at:0.9, purchased at:0.9, purchased:0.8, creation time:0.95, create time:0.95, created time:0.95, time created:0.95, creation:0.8, placed:0.85, placed at:0.95, placed on:0.95, date placed, booking placed, sold on:0.8, purchase date:0.8, order date:0.8, booking time, booked on, booked at, booked, created, created at, created on, create date:0.95, create date time:0.95, creation date, date created, inserted on:0.9, inserted at:0.9, inserted:0.8, reservation date:0.9, date booked, made on:0.9, buchungsdatum, fecha reserva, data reserva, data criacao, insert date:0.85, create:0.7, book date, made at:0.85, made:0.7, date reservation, date creation, fecha creacion, fecha alta:0.9, date cre:0.9, data prenotazione, data creazione, data inserimento, fecha insercion, date saisie, boekingsdatum, erstellt:0.8, angelegt:0.8, erfasst:0.85, erfasst am:0.95, erstellt am:0.95, angelegt am:0.95, gebucht am:0.95, entered on:0.8, date de creation:0.95, data de criacao:0.95, date:0.55
    not: modified updated cancelled canceled birth by creator profile business version user`,
  status: `status, state, phase:0.75, situacao, reservation status, booking status, stato:0.9, etat:0.8, estado, reservation state, computed reservation status:0.9, lifecycle:0.7, lifecycle status:0.8, statut, situacion:0.7, zustand:0.8
    not: payment country room guest clean address accounting region province message sync folio credit invoice`,
  cancelled_at: `cancelled at, canceled at, cancelled on, canceled on, cancelled, canceled, cancellation date, cancellation time, cancelation date, cancellation:0.8, cancel date, cancel time, cancelled date, canceled date, cancelled time, canceled time, date cancelled, date canceled, time cancelled, cancellation date time, stornodatum, storniert am, storno datum, fecha cancelacion, fecha anulacion, date annulation, annulee le, data cancellazione, data annullamento, data cancelamento, annuleringsdatum
    not: policy deadline free until by before last latest fee penalty allowed possible request requested due limit`,
  channel: `channel, tour operator:0.75, sold by:0.8, sold by brand:0.8, partner:0.6, agent:0.6, travel agent name:0.6, agency:0.6, channel code, booking site:0.9, sub channel:0.95, referer:0.7, referrer:0.75, referer editable:0.8, channel name, booking channel, booking channel code, platform:0.75, integration platform:0.9, ota:0.8, ota name:0.9, origin details:0.85, source name:0.82, source type:0.72, origin:0.55, kanal, canal, distribution channel, sales channel, via:0.65, booked via:0.85, booked through:0.85, canal venta, canale, canal de venda, canal venda, vertriebskanal, vertriebsweg, buchungsweg, buchungskanal, kanaal
    not: number manager reservation confirmation id reference ref update locked allow payment`,
  source: `source, source code, origine:0.75, booking source, booking source name:0.95, booking source code:0.95, origin:0.8, source of business, source category:0.92, lead source:0.8, quelle, herkunft, business source, provider:0.6, portal:0.65, portal name:0.75, origen:0.8, procedencia:0.7, provenance:0.7, segmento:0.5, fonte:0.8, bron:0.7
    not: number reservation id confirmation details payment collect api`,
  total_amount: `total amount, money due:0.75, total inc vat, total incl vat, total incl tax, total including tax, total with tax:0.95, total ttc, total revenue:0.75, gross revenue:0.85, gross:0.7, total price amount, grand total amount, total, total amount value:0.95, total price value:0.95, grand total, total price, total gross amount, total gross, total amount after tax:0.95, total amount before tax:0.85, amount total, gross total, total cost:0.9, booking cost:0.85, stay cost:0.85, total charge:0.9, reservation total, booking total, total rate:0.85, total stay amount:0.95, total room rate:0.8, price:0.65, amount:0.6, total value:0.85, price total, gesamtpreis, gesamtbetrag, importe total, montant total, totals gross:0.95, totale, amount after tax:0.8, amount after taxes:0.8, total amount after taxes:0.95, totals amount after tax:0.95, to pay:0.7, payable:0.75, total payable:0.95, importe:0.7, montant:0.7, prix total, prezzo totale, precio total, totaalbedrag, gross cents:0.75, total cents:0.9, price gross:0.85, booking value:0.85, client price:0.85, guest price:0.85, customer price:0.85, gesamtsumme, valor total, montant ttc, sum:0.65
    not: tax taxes vat excl excluding paid advance balance pending outstanding remaining deposit due net payment payments refund refunds revenue owner host transfer transfers fee fees commission discount payout sub guests nights persons pages rows count cancellation no show percent suggested adults results rate accommodation cleaning extras addons`,
  currency: 'currency, currency code, property currency:0.9, wahrung, waehrung, moneda, devise, valuta, cur:0.7',
});

export const guestLexicon = lexiconOf(listFields.guests, {
  guest_id: `id:0.8, guest id, customer id, profile id:0.9, person id, guest no:0.9, guest code:0.85, client code:0.85, profile number:0.9, customer number:0.85, guest number:0.8, guest ref:0.8, client id:0.8, client number:0.8, gast number:0.9, gast id:0.9, gastnummer:0.9, kundennummer:0.85, kunden number:0.85, uid:0.75, tenant id:0.8, traveller id:0.85
    not: room reservation document sub identification tax language type country skype`,
  first_name: `first name, fore name, name 2:0.7, first names:0.95, f name:0.95, fname, given name, given:0.9, first:0.8, forename, forenames:0.95, nom:0.55, vorname, prenom, nombre:0.8, nome:0.7, voornaam, firstname, primeiro nome
    not: full last`,
  last_name: `last name, sur name, last names:0.95, surnames:0.95, l name:0.95, s name:0.95, sname, lname, surname, family name, family:0.85, last:0.75, nachname, familienname, nom:0.7, apellido, apellidos, cognome, sn:0.5, achternaam, lastname, sobrenome, apelido:0.8
    not: full second`,
  email: `email, e mail, mail, mail address:0.9, email address, emails:0.8, courriel, correo, correo electronico, adresse mail:0.9, posta elettronica, mail adresse:0.9
    not: opt consent marketing`,
  phone: `phone, phone numbers:0.9, phone number national number, national number:0.7, telephones:0.85, mobiles:0.85, phone number, telephone, mobile, mobile phone, cell phone, cell:0.8, tel:0.9, telefon, telefone, celular, telefono, handy, phones:0.8, contact number:0.6, mobil:0.9, mob:0.9, msisdn, telephone number, mobile number, phone no:0.95, movil, portable:0.8, cellulare, telefoon, telefoonnummer, telefonnummer, rufnummer:0.8, mobiltelefon, handynummer, telefon mobil, telephone portable, telefono movil, telemovel, numero telephone:0.9, numero telefono:0.9
    not: fax country consent`,
  date_of_birth: `date of birth, birth date, dob, born:0.9, birth:0.8, geburtsdatum, geburtstag, naissance:0.8, nacimiento:0.8, date birth, date naissance, fecha nacimiento, data nascita, geboortedatum, birthdate
    not: place country`,
  nationality: `nationality, nat:0.8, citizen:0.9, nationality code, nationality country code, citizenship, nationality country, staatsangehorigkeit, nationalitat, nacionalidad, nationalite, country of citizenship:0.9, nationalitaet, nazionalita, nationaliteit, cittadinanza:0.9, nacionalidade
    not: address issuing birth`,
  document_type:
    'document type, doc type, id type:0.9, identification type, identity document type, identity type:0.95, passport type:0.7, guest document type, ausweisart, tipo documento, tipo doc:0.9, type document, type piece identite:0.8, tipo de documento',
  document_number: `document number, doc number, doc no:0.9, identification number, passport number, passport no, passport:0.85, id number:0.9, identity number:0.9, identity card number:0.85, ausweisnummer, numero documento, numero piece identite:0.8, num documento, documento:0.6, dokumentnummer, passport no:0.95
    not: tax company issue expiration`,
  marketing_consent: `marketing consent, marketing opt in, opt in:0.9, opted in:0.9, marketing:0.8, newsletter:0.85, news letter:0.85, accepts marketing, consent:0.7, allow marketing, gdpr consent:0.7, email opt in:0.9, mailing:0.7
    not: privacy terms`,
});

/** The second of two family names. */
export const secondNameLexeme = lexeme(
  'second last name, second surname, last name 2:0.9, apellido 2:0.9, segundo apellido, maternal name:0.8',
);

/** A name in one field. */
export const fullNameLexeme =
  lexeme(`full name, fio, nominative:0.8, nom complet, nombre completo, nome completo, first name last name, name:0.8, guest name, display name:0.8, customer name, label:0.6, holder:0.7, booked by:0.6, lead guest:0.8, booker name:0.9, holder name:0.9, tenant name:0.9, traveller name:0.9, contact name:0.8
  not: channel site platform status listing apartment partner country city tariff portal ota hotel property room rate type company plan category short user nick source unit group service middle`);

export const roomLexicon = lexiconOf(listFields.rooms, {
  room_type: `room type, type name:0.7, type code:0.7, room label:0.7, room description:0.6, room type code, room type name:0.97, room type id:0.7, unit group code, unit group:0.9, unit group name:0.8, unit type:0.9, room category:0.9, category code:0.8, category:0.7, accommodation type:0.9, lodging type:0.9, type:0.6, room:0.6, listing nickname:0.85, house nickname:0.8, nickname:0.6, product label:0.55, product name:0.55, listing title:0.75, rental name:0.85, rental:0.6, rental id:0.5, listing name:0.8, resource category:0.92, requested resource category id:0.8, zimmertyp, zimmerkategorie, tipo habitacion, type chambre, camera:0.6, room code:0.75, room name:0.7, room title:0.6, unit type name:0.95, category name:0.8, property name:0.72, properties name:0.72, unit name:0.8, room id:0.55, tipo camera, tipo quarto, room kind:0.9, unit kind:0.85, room class:0.85, type hebergement:0.9, tipo habitacion, type chambre, kamertype, tipologia:0.7, typology:0.7, apartment name:0.85, apartment:0.7, accommodation name:0.85, villa name:0.85, house name:0.8, listing id:0.5, property uid:0.5, property id:0.5, apartment id:0.5, unit id:0.55, dorm:0.6, cabin:0.6, chalet:0.6, cottage:0.6, villa:0.6, accommodation:0.55, unit type code:0.95
    not: id uid current sub history virtual charged status class rate market is board document qty quantity count number revenue fee tax owner host charge guest cancellation policy invoice payment refund`,
  board:
    'board, catering:0.85, treatment:0.85, treatment code:0.9, meals:0.8, package name:0.66, board type, board code, meal plan, meal plans, meal:0.8, meal type:0.9, boarding:0.9, verpflegung, pension:0.8, regimen, trattamento, board basis, board basis, pension code:0.8, arrangement:0.6, regimen alimentacion, formule:0.6, trattamento, verzorging:0.8',
  rate_code: `rate code, rate plan code, rate plan, rate plan name:0.8, rate name:0.85, rate plan id:0.75, rate id:0.7, rate:0.6, plan:0.55, tariff:0.9, tariff code, price code:0.8, ratentyp, tarifa, tarif, rateplan, tarifplan, rate plan code, plan tarifario, tariffa, tarief
    not: amount description currency suppressed fixed market vat tax percent`,
  start_date: arrival,
  end_date: departure,
  adults: `adults, no adults, grown:0.8, grown ups:0.9, men:0.7, occupancy:0.55, occupants:0.6, adult count, number of adults, adult:0.9, num adults, no of adults, erwachsene, adultos, adultes, adulti, occupancy adults, guest counts adults, pax:0.62, persons:0.6, people:0.6, persone:0.6, guest count:0.55, client count:0.55, volwassenen, ad:0.55
    not: children name max capacity male female`,
  children: `children, young:0.8, minors:0.9, kind:0.85, ch:0.55, no children, occupants small:0.7, child count, number of children, children count, child:0.9, kids:0.9, num children, teens:0.6, teen:0.6, children ages:0.9, kinder, ninos, enfants, bambini, occupancy children, guest counts children, kinderen, ninos, criancas
    not: adult infants name max capacity unit room`,
});

export const chargeLexicon = lexiconOf(listFields.charges, {
  code: `code, id:0.7, charge code, transaction code, item code, service code, product code, article:0.7, item:0.7, normal type:0.9, type:0.75, charge type:0.85, item type:0.8, category:0.6, rate plan code:0.6, sku:0.8, trx code, codigo, codice, prestation code:0.9, artikel:0.7, line code:0.9
    not: currency accounting state revenue vat`,
  description:
    'description, charge description, service:0.8, text:0.9, memo:0.7, charge text, title:0.9, name:0.9, label:0.85, item name:0.95, service name:0.95, product name:0.95, article name:0.9, unit group name:0.6, revenue type:0.5, remark:0.5, bezeichnung, concepto, libelle, concepto, designation:0.9, descrizione, descripcion, omschrijving, caption:0.8, leistung:0.7',
  amount: `amount, amount incl vat, amount including vat, price incl vat:0.8, charge amount, gross amount, gross:0.85, amount gross, amount gross value:0.97, gross value, total amount:0.9, total amount gross amount:0.98, price:0.85, total price:0.9, total:0.8, value:0.7, sum:0.7, betrag, importe, montant, importo, line total:0.9, amount cents:0.95, value cents:0.9, price cents:0.9, minor:0.75, cents:0.75, line total value:0.9, bedrag, prix:0.8, precio:0.85, prezzo:0.85, preis:0.85, line amount:0.95
    not: net vat percent default unit currency code mode type`,
  charge_date: 'charge date, service date, posting date, business date, night date:0.9',
  quantity: `quantity, qty, count, times:0.8, unit count, charge qty, number of units:0.9, units:0.8, amount count:0.8, pieces:0.8, anzahl, menge, cantidad, quantite, cantidad, quantita, aantal, nombre:0.5
    not: tax amount`,
});

/** Names of lists. */
export const guestWords = wordSet(
  'guest guests party sharer sharers customer customers person persons people profile profiles traveler travelers traveller travellers pax companion companions fellow fellows passenger passengers accompany occupant occupants primary additional contact booker client clients gast gaste huesped huespedes invite lead tenant renter occupant occupants ospite ospiti hospede hospedes gasten reisende reiziger reizigers participant participants',
);
export const roomWords = wordSet(
  'room rooms stay stays unit units accommodation accommodations lodging lodgings segment segments habitacion habitaciones zimmer chambre chambres roomstay bed beds camera camere kamer kamers quarto quartos pitch pitches',
);
export const chargeWords = wordSet(
  'element elements breakdown price prices entry entries finance financial cost costs addon addons supplement supplements upsell upsells charge charges bill levy levies item items line lines folio folios invoice transaction transactions service services extra extras product products fee fees tax taxes posting postings order slice slices night nights rate rates surcharge leistung leistungen position positionen prestation prestations cargo cargos addebito addebiti posten kosten consumo consumos',
);
/** People who book for others: guests only if nobody else is named. */
export const bookerWords = wordSet('booker contact payer orderer');
/** People and firms in a reservation that are not its guests. */
export const strangerWords = wordSet(
  'company agency agent user creator updater owner owners property properties hotel host hosts travel employee payment card address attached',
);
/** Names of the list of reservations or of its container. */
export const reservationWords = wordSet(
  'reservation reservations booking bookings result results data rows items records list content stays info dossier dossiers reserva reservas prenotazione prenotazioni buchung buchungen boeking boekingen reservierung reservierungen',
);
