/**
 * Where the invented guests come from. `mobile` is a national number: each # is replaced by a digit. Common names are combined
 * at random.
 */
export interface Country {
  readonly code: string;
  readonly dial: string;
  /** What is put before the national number at home, such as 0. */
  readonly trunk: string;
  readonly mobile: string;
  readonly first: readonly [string, ...string[]];
  readonly last: readonly [string, ...string[]];
  /** Relative frequency. */
  readonly weight: number;
}

/** Each with its dialling code, trunk prefix, frequency and mobile number; then first names; then last names. */
const table = `
PT +351 - 14 91# ### ###
  João, Inês, Tiago, Mariana, Rui, Beatriz, Gonçalo, Leonor, Nuno, Catarina
  Silva, Conceição, dos Santos, Gouveia, Magalhães, Pires, Brandão, d’Ávila, Simões, Faria
GB +44 0 14 7700 900###
  Oliver, Amelia, Harry, Isla, Callum, Freya, Alistair, Imogen, Rhys, Siân
  Thompson, MacDonald, Fitzgerald, Hughes-Jones, McAllister, Whitaker, O'Connor, Blackwood, St. John, Macey
DE +49 0 12 151 2#######
  Jürgen, Anneliese, Lukas, Käthe, Björn, Sabine, Karl-Heinz, Ursula, Matthias, Grete
  Müller, Schäfer, von der Heide, Weiß, zu Hohenfeld, Köhler, Lindemann, Groß, Vogel, Brückner
FR +33 0 11 6 39 98 ## ##
  Élodie, Jean-Luc, Anaïs, François, Maëlle, Thierry, Zoé, Benoît, Hélène, Gaël
  Lefèvre, de La Tour, Dubois, d'Aubigné, Béranger, Moreau, Le Goff, Châtelain, Girard, Noël
ES +34 - 10 612 ### ###
  José María, Lucía, Íñigo, Begoña, Álvaro, Nuria, Andrés, Rocío, Joaquín, Itziar
  García Márquez, Ibáñez, de la Fuente, Núñez, Etxeberria, Zorrilla, del Río, Peña, Castaño, Vidal
US +1 - 12 212-555-01##
  Tyler, Madison, DeShawn, Brooke, Austin, Savannah, Wyatt, Jasmine, Hunter, Peyton
  McDowell, Washington, Van Buren, O'Malley, Jefferson III, Kowalski, De Luca, Smith-Garner, Hayes, Boone
IT +39 - 7 347 ### ####
  Niccolò, Giulia, Matteo, Chiara, Pierpaolo, Fiorella, Raffaele, Noemi, Ugo, Letizia
  D'Angelo, Di Stefano, Lo Presti, Bianchi, Dell'Acqua, Rossi, Della Valle, Fontana, Caruso, Greco
NL +31 0 7 6 12 34 ## ##
  Daan, Fleur, Sjoerd, Femke, Joost, Liesbeth, Maarten, Anouk, Wouter, Saskia
  van der Berg, de Vries, 't Hart, van den Broek, IJsbrandy, Bakker, ter Horst, van Dijk, Mulder, Visser
BR +55 - 6 11 9#### ####
  Thiago, Juliana, Caio, Fernanda, Vinícius, Letícia, Mateus, Camila, Otávio, Luíza
  de Souza, Nascimento, Araújo, do Carmo, Guimarães, Cavalcanti, Moraes, Teixeira, Peixoto, Lins
PL +48 - 4 512 ### ###
  Łukasz, Małgorzata, Paweł, Agnieszka, Michał, Zuzanna, Grzegorz, Wioletta
  Wójcik, Kowalczyk, Dąbrowska, Zieliński, Błaszczyk, Szymańska, Krawczyk, Ostrowski
SE +46 0 4 70-174 06 ##
  Åsa, Göran, Linnéa, Björn, Märta, Oskar, Ebba, Sölve
  Åkesson, Sjöström, af Klercker, Lindqvist, Öberg, Nordström, Bergman, Dahl
IE +353 0 4 85 ### ####
  Seán, Aoife, Pádraig, Saoirse, Ciarán, Niamh, Declan, Róisín
  O'Neill, Mac Giolla, Ó Briain, Fitzpatrick, Ní Dhomhnaill, Doyle, McCarthy, Byrne
TR +90 0 3 532 ### ## ##
  İbrahim, Işıl, Çağlar, Ayşe, Oğuz, Gülşah, Ümit, Şebnem
  Yıldırım, Çelik, Öztürk, Işık, Kılıç, Şahin, Güneş, İnce
GR +30 - 3 694 ### ####
  Γιώργος, Ελένη, Nikos, Katerina, Δημήτρης, Μαρία, Spyros, Ioanna
  Παπαδόπουλος, Οικονόμου, Nikolaidis, Vasileiou, Γεωργίου, Δήμου, Kostas, Makri
JP +81 0 3 90-####-####
  太郎, さくら, Haruto, Yui, 健一, 美咲, Ren, Aoi
  山田, 佐藤, Suzuki, Watanabe, 高橋, 伊藤, Kobayashi, Mori
CN +86 - 3 138 #### ####
  伟, 秀英, Xiaoming, Li, 建国, 丽华, Wei, Yan
  王, 张, Zhang, Chen, 刘, 赵, Ouyang, Xu
AE +971 0 2 50 ### ####
  محمد, فاطمة, Khalid, Aisha, عبد الله, نورة, Omar, Layla
  آل هاشم, النعيمي, Al-Mansour, bin Rashid, الزعابي, السويدي, Al Falasi, Haddad
MX +52 - 3 1 55 #### ####
  Guadalupe, Ximena, José Luis, Citlali, Ángel, Renata, Cuauhtémoc, Rocío
  Hernández, Peñaloza, de la Cruz, Zúñiga, Tlatelpa, Montaño, Ríos, Luna
AU +61 0 3 491 570 1##
  Lachlan, Matilda, Angus, Tahlia, Darcy, Kirra, Bronte, Jarrah
  MacKenzie, O'Shea, Papas, Nguyen, van Houten, Campbell, Wright, Leigh
IN +91 0 3 98### #####
  Aarav, Priyanka, Venkatesh, Ananya, Rohan, Lakshmi, Arjun, Meera
  Iyer, Chatterjee, Subramaniam, Singh, Deshpande, Reddy, Kapoor, Nair
`;

const words = (line = ''): [string, ...string[]] => line.trim().split(', ') as [string, ...string[]];

export const countries = table
  .trim()
  .split(/\n(?=\w)/)
  .map((entry): Country => {
    const [head = '', first, last] = entry.split('\n');
    const [code = '', dial = '', trunk = '', weight, ...mobile] = head.split(' ');
    return {
      code,
      dial: dial.slice(1),
      trunk: trunk.replace('-', ''),
      weight: Number(weight),
      mobile: mobile.join(' '),
      first: words(first),
      last: words(last),
    };
  }) as [Country, ...Country[]];
