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

const words = (text: string): [string, ...string[]] => text.split(', ') as [string, ...string[]];

export const countries: readonly [Country, ...Country[]] = [
  {
    code: 'PT',
    dial: '351',
    trunk: '',
    mobile: '91# ### ###',
    weight: 14,
    first: words('João, Inês, Tiago, Mariana, Rui, Beatriz, Gonçalo, Leonor, Nuno, Catarina'),
    last: words('Silva, Conceição, dos Santos, Gouveia, Magalhães, Pires, Brandão, d’Ávila, Simões, Faria'),
  },
  {
    code: 'GB',
    dial: '44',
    trunk: '0',
    mobile: '7700 900###',
    weight: 14,
    first: words('Oliver, Amelia, Harry, Isla, Callum, Freya, Alistair, Imogen, Rhys, Siân'),
    last: words(
      "Thompson, MacDonald, Fitzgerald, Hughes-Jones, McAllister, Whitaker, O'Connor, Blackwood, St. John, Macey",
    ),
  },
  {
    code: 'DE',
    dial: '49',
    trunk: '0',
    mobile: '151 2#######',
    weight: 12,
    first: words('Jürgen, Anneliese, Lukas, Käthe, Björn, Sabine, Karl-Heinz, Ursula, Matthias, Grete'),
    last: words('Müller, Schäfer, von der Heide, Weiß, zu Hohenfeld, Köhler, Lindemann, Groß, Vogel, Brückner'),
  },
  {
    code: 'FR',
    dial: '33',
    trunk: '0',
    mobile: '6 39 98 ## ##',
    weight: 11,
    first: words('Élodie, Jean-Luc, Anaïs, François, Maëlle, Thierry, Zoé, Benoît, Hélène, Gaël'),
    last: words("Lefèvre, de La Tour, Dubois, d'Aubigné, Béranger, Moreau, Le Goff, Châtelain, Girard, Noël"),
  },
  {
    code: 'ES',
    dial: '34',
    trunk: '',
    mobile: '612 ### ###',
    weight: 10,
    first: words('José María, Lucía, Íñigo, Begoña, Álvaro, Nuria, Andrés, Rocío, Joaquín, Itziar'),
    last: words('García Márquez, Ibáñez, de la Fuente, Núñez, Etxeberria, Zorrilla, del Río, Peña, Castaño, Vidal'),
  },
  {
    code: 'US',
    dial: '1',
    trunk: '',
    mobile: '212-555-01##',
    weight: 12,
    first: words('Tyler, Madison, DeShawn, Brooke, Austin, Savannah, Wyatt, Jasmine, Hunter, Peyton'),
    last: words(
      "McDowell, Washington, Van Buren, O'Malley, Jefferson III, Kowalski, De Luca, Smith-Garner, Hayes, Boone",
    ),
  },
  {
    code: 'IT',
    dial: '39',
    trunk: '',
    mobile: '347 ### ####',
    weight: 7,
    first: words('Niccolò, Giulia, Matteo, Chiara, Pierpaolo, Fiorella, Raffaele, Noemi, Ugo, Letizia'),
    last: words("D'Angelo, Di Stefano, Lo Presti, Bianchi, Dell'Acqua, Rossi, Della Valle, Fontana, Caruso, Greco"),
  },
  {
    code: 'NL',
    dial: '31',
    trunk: '0',
    mobile: '6 12 34 ## ##',
    weight: 7,
    first: words('Daan, Fleur, Sjoerd, Femke, Joost, Liesbeth, Maarten, Anouk, Wouter, Saskia'),
    last: words(
      "van der Berg, de Vries, 't Hart, van den Broek, IJsbrandy, Bakker, ter Horst, van Dijk, Mulder, Visser",
    ),
  },
  {
    code: 'BR',
    dial: '55',
    trunk: '',
    mobile: '11 9#### ####',
    weight: 6,
    first: words('Thiago, Juliana, Caio, Fernanda, Vinícius, Letícia, Mateus, Camila, Otávio, Luíza'),
    last: words('de Souza, Nascimento, Araújo, do Carmo, Guimarães, Cavalcanti, Moraes, Teixeira, Peixoto, Lins'),
  },
  {
    code: 'PL',
    dial: '48',
    trunk: '',
    mobile: '512 ### ###',
    weight: 4,
    first: words('Łukasz, Małgorzata, Paweł, Agnieszka, Michał, Zuzanna, Grzegorz, Wioletta'),
    last: words('Wójcik, Kowalczyk, Dąbrowska, Zieliński, Błaszczyk, Szymańska, Krawczyk, Ostrowski'),
  },
  {
    code: 'SE',
    dial: '46',
    trunk: '0',
    mobile: '70-174 06 ##',
    weight: 4,
    first: words('Åsa, Göran, Linnéa, Björn, Märta, Oskar, Ebba, Sölve'),
    last: words('Åkesson, Sjöström, af Klercker, Lindqvist, Öberg, Nordström, Bergman, Dahl'),
  },
  {
    code: 'IE',
    dial: '353',
    trunk: '0',
    mobile: '85 ### ####',
    weight: 4,
    first: words('Seán, Aoife, Pádraig, Saoirse, Ciarán, Niamh, Declan, Róisín'),
    last: words("O'Neill, Mac Giolla, Ó Briain, Fitzpatrick, Ní Dhomhnaill, Doyle, McCarthy, Byrne"),
  },
  {
    code: 'TR',
    dial: '90',
    trunk: '0',
    mobile: '532 ### ## ##',
    weight: 3,
    first: words('İbrahim, Işıl, Çağlar, Ayşe, Oğuz, Gülşah, Ümit, Şebnem'),
    last: words('Yıldırım, Çelik, Öztürk, Işık, Kılıç, Şahin, Güneş, İnce'),
  },
  {
    code: 'GR',
    dial: '30',
    trunk: '',
    mobile: '694 ### ####',
    weight: 3,
    first: words('Γιώργος, Ελένη, Nikos, Katerina, Δημήτρης, Μαρία, Spyros, Ioanna'),
    last: words('Παπαδόπουλος, Οικονόμου, Nikolaidis, Vasileiou, Γεωργίου, Δήμου, Kostas, Makri'),
  },
  {
    code: 'JP',
    dial: '81',
    trunk: '0',
    mobile: '90-####-####',
    weight: 3,
    first: words('太郎, さくら, Haruto, Yui, 健一, 美咲, Ren, Aoi'),
    last: words('山田, 佐藤, Suzuki, Watanabe, 高橋, 伊藤, Kobayashi, Mori'),
  },
  {
    code: 'CN',
    dial: '86',
    trunk: '',
    mobile: '138 #### ####',
    weight: 3,
    first: words('伟, 秀英, Xiaoming, Li, 建国, 丽华, Wei, Yan'),
    last: words('王, 张, Zhang, Chen, 刘, 赵, Ouyang, Xu'),
  },
  {
    code: 'AE',
    dial: '971',
    trunk: '0',
    mobile: '50 ### ####',
    weight: 2,
    first: words('محمد, فاطمة, Khalid, Aisha, عبد الله, نورة, Omar, Layla'),
    last: words('آل هاشم, النعيمي, Al-Mansour, bin Rashid, الزعابي, السويدي, Al Falasi, Haddad'),
  },
  {
    code: 'MX',
    dial: '52',
    trunk: '',
    mobile: '1 55 #### ####',
    weight: 3,
    first: words('Guadalupe, Ximena, José Luis, Citlali, Ángel, Renata, Cuauhtémoc, Rocío'),
    last: words('Hernández, Peñaloza, de la Cruz, Zúñiga, Tlatelpa, Montaño, Ríos, Luna'),
  },
  {
    code: 'AU',
    dial: '61',
    trunk: '0',
    mobile: '491 570 1##',
    weight: 3,
    first: words('Lachlan, Matilda, Angus, Tahlia, Darcy, Kirra, Bronte, Jarrah'),
    last: words("MacKenzie, O'Shea, Papas, Nguyen, van Houten, Campbell, Wright, Leigh"),
  },
  {
    code: 'IN',
    dial: '91',
    trunk: '0',
    mobile: '98### #####',
    weight: 3,
    first: words('Aarav, Priyanka, Venkatesh, Ananya, Rohan, Lakshmi, Arjun, Meera'),
    last: words('Iyer, Chatterjee, Subramaniam, Singh, Deshpande, Reddy, Kapoor, Nair'),
  },
];
