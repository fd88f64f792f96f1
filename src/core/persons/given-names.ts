/**
 * Common given names, folded: lower case without accents. The names of one entry are spellings and short forms of one name in one language;
 * a short form may stand in several entries. Two names of this table that share no entry are two names, however alike they look: Marco is not a typing
 * mistake for Mario. A name that is not in the table may be one.
 */
const table = `
english:
robert rob robb bob bobby robbie, bert, william will willie bill billy, liam, richard rick ricky rich dick, john johnny jon jack, jonathan jonathon johnathan jon jonny,
james jim jimmy jamie, jacob jake, joseph joe joey, michael mike mick mickey mikey, matthew matt matty mathew, thomas tom tommy, anthony tony antony, edward ed eddie ted ned,
charles charlie chuck, carl karl, david dave davy, daniel dan danny, andrew andy drew, christopher chris kit topher, christian chris, christine chris, christina chris tina, stephen steve steven,
peter pete, paul, alexander alex alec sandy xander aleksandr alexandr, alexandra alex sandra sandy lexi, alexis alex, samuel sam sammy, samantha sam sammie, benjamin ben benny benji, nicholas nick nicky nicolas, nicola nicky,
patrick pat paddy, patricia pat patty trish tricia, timothy tim timmy, gregory greg, geoffrey geoff jeffrey jeff, lawrence larry laurence, leonard len lenny leo, frederick fred freddie, francis frank fran, frances fran fanny,
george, henry harry hank, harold harry hal, gerald gerry jerry, gerard gerry, raymond ray, ronald ron ronnie, donald don donnie, kenneth ken kenny, philip phil phillip, albert al bert, alfred al fred, arthur art artie,
walter walt wally, theodore ted teddy theo, douglas doug, eugene gene, vincent vince vinny, victor vic, zachary zach zack, joshua josh, nathaniel nathan nat nate, nathan nate,
elizabeth liz lizzie beth betty libby elisabeth, eliza, lisa, isabel isabelle isabella bella izzy, margaret maggie meg peggy marge, katherine catherine kate katie kathy cathy kathryn, mary molly polly, anne ann annie, anna annie, hannah hanna,
susan sue susie, suzanne sue, deborah deb debbie debra, barbara barb babs, jennifer jen jenny jenn, jessica jess jessie, rebecca becky becca, victoria vicky vicki tori, judith judy, dorothy dot dottie, helen nell, ellen nell, eleanor ellie nell,
sarah sara sally, jane, janet jan, jean, joan, joanna joanne jo, julia, julie, laura, lauren, emily em, emma em, amanda mandy, pamela pam, cynthia cindy, teresa theresa terry tess, virginia ginny, veronica ronnie, valerie val, kimberly kim, michelle shelly,
nicole nicky nikki, stephanie steph, rachel rachael, melissa mel, melanie mel, natalie nat, caroline carrie, carol, lucy, alice, alicia, olivia liv, sophie, sophia sofia, charlotte lottie charlie, grace, ruth, kevin, brian bryan, eric erik, erica erika,
mark marc, marcus markus, gary garry, sean shawn shaun, ian iain, alan allan allen, neil neal, keith, craig, stuart stewart, graham graeme, simon, simone, adam, aaron, luke, justin, brandon, tyler, ryan, jason, scott, bruce, roger, howard, martin marty, martina,
louis lewis lou, louise lou, claire clare, clara, diana, diane, angela angie, linda lynda, karen, donna, sharon, tracy tracey, wendy, jacqueline jackie, gillian jill, heather, hazel, joyce, marion, irene, rose rosie, violet, florence flo, oliver ollie, oscar, max, maximilian max,
felix, hugo, hugh, noah, ethan, mason, logan, ava, eva, eve, evan, zoe, chloe, lily lilly, ella, amy, mia, abigail abby, madison, megan meghan, holly, jasmine yasmin jasmin,
portuguese:
joao, jose ze, antonio toni, luis luiz, carlos, manuel manel, paulo, pedro, tiago thiago, diogo, rui ruy, nuno, miguel, ricardo, rodrigo, goncalo, bruno, andre, filipe felipe, vasco, duarte, afonso, bernardo, sergio, fernando, fernanda, helder, joaquim,
domingos, rafael raphael, gabriel, gabriela gabriella, ines, marta, mariana, margarida, beatriz, catarina, rita, sonia, susana, teresa, leonor, matilde, carla, claudia, claudio, paula, filipa, joana, lurdes lourdes, conceicao, fatima, graca, celeste, alda, olga, vera,
silvia sylvia, silvio, raquel, tania, vitor victor, leandro, marcia, marcelo, luciana, luciano, adriana, adriano, renata, renato, regina, eduarda, eduardo edu, mafalda, benedita, benedito, caetana, caetano, henrique, simao, lourenco, salvador, tomas, vicente, maria, ana, mario, marco, marcos, helena, lucia, alberto, roberto beto, jorge,
spanish:
javier xavier xavi, juan, francisco paco, alvaro, ignacio nacho, inigo, pablo, raul, ruben, jaime, jordi, jesus, angel, angeles, mercedes merche, pilar, carmen, rosario, dolores lola, consuelo chelo, rocio, inmaculada inma, montserrat montse, nuria, ainhoa, ane, iker, aitor, mikel, gorka, unai,
julio, julian, juliana, cesar, emilio, emilia, ernesto, gustavo, guillermo, hector, ivan, joan, lorena, lucas, manuela, marina, miriam myriam, mirta, noelia, noel, rosa, rosalia, sebastian, soledad, valentina, valentin, vanesa vanessa, yolanda, alma, blanca, esperanza, gloria, magdalena magda, monica,
paloma, nieves, agustin, augusto, amalia, amelia, armando, begona, belen, berta, camila, camilo, celia, cecilia, daniela, elvira, estela stella, fermin, flora, gemma, german, hernan, hilda, isidro, leticia, lidia, macarena, marcela, mariano, marisol, maximo, nadia, nerea, nora, osvaldo, pascual, ramon, ramona, rogelio, roman,
salome, santos, santiago, diego, saul, tamara, tatiana, ursula, zaida, alejandro, alejandra, andres, andrea, enrique quique, esteban, felipe, fernando, gerardo, isabel, jorge, lorenzo, luisa, mateo, rafael rafa, sara,
italian:
giovanni gianni nanni, francesco, francesca, alessandro, alessandra, luca, paolo, paola, giuseppe beppe, giuseppina, roberta, stefano, stefania, riccardo, federico, federica, giorgio, giorgia, chiara, silvia, elisa, alessia, alessio, ilaria, elena, valeria, valerio, michele, michela, cristina, daniele, davide, fabio, fabiana, fabrizio, filippo,
gianluca, giacomo, jacopo, giancarlo, lorenza, maurizio, massimo, massimiliano, matteo, mattia, mirco mirko, nicolo, pier, piero, pietro, rocco, rosanna, rossana, rossella, salvatore, samuele, tiziana, tiziano, tommaso, umberto, vito, vittorio, vittoria, donatella, donato, edoardo, emanuela, emanuele, enrico, enzo, eros, ezio, flavia, flavio, franca, franco,
gino, gina, ida, ivo, loredana, loris, mara, milena, mauro, moreno, nino, nina, ornella, patrizia, patrizio, pina, pino, renzo, rino, romina, sabina, sabrina, serena, susanna, tina, ugo, vincenzo, vincenza, viola, virgilio, antonia, angelo, giulio, giulia, carlo, luigi, luigia, marcello, marcella, lucio, claudia, caterina, margherita, letizia, beatrice, benedetta,
french:
jean, pierre, jacques, philippe, francois, francoise, michel, alain, bernard, christophe, laurent, laure, julien, stephane, sebastien, olivier, thierry, patrice, pascal, pascale, didier, gilles, yves, yvan, yvonne, yvette, christelle, sandrine, nathalie, celine, aurelie, aurelien, elodie, emilie, virginie, delphine, anais, manon, lea, lena, camille, jade, margaux margot,
mathilde, oceane, pauline, clemence, clement, benoit, bertrand, cedric, damien, denis dennis, denise, edith, elise, eliane, etienne, fabrice, fabien, fabienne, florent, gaelle, gael, genevieve, georges, georgette, ghislaine, guy, henri, henriette, herve, hubert, jeanine, jeanne, jerome, joel, joelle, josephine, josette, juliette, loic, luc, lucie, lucien, lucette, ludovic,
marcel, marcelle, marie, marianne, mireille, nadine, noemie, odile, odette, quentin, raoul, regis, remi remy, rene, renee, roland, romain, romane, rodolphe, serge, solange, thibault thibaut, tristan, victoire, vivien, viviane, yann, yannick, yohan, monique, dominique, maurice, michele, gabrielle, danielle, adrien, adrienne, armand, arnaud, cecile, estelle, guillaume, louane, marguerite, maxime, antoine,
german:
hans johannes johann hannes, jan, jurgen, wolfgang wolf, gunter gunther, gunnar, dieter, horst, uwe, helmut, manfred, rainer reiner, bernhard bernd, werner, ulrich uli, ulrike uli, gerd gert, gerhard, jens, sven swen, ralf ralph, dirk, thorsten torsten, holger, volker, lutz, detlef, olaf olav olof, kai kay, lars, nils niels, tobias tobi, florian flo, dominik dominic, fabian, jannik, tim, timo, jonas, finn fynn,
elias, lukas lucas, moritz, julius, anton, emil, kurt, konrad conrad, otto, ludwig, ernst, heike, petra, sabine, monika, renate, ingrid, inge, inga, helga, gisela, gerda, elke, ilse, brigitte, birgit, gabriele gabi gaby, angelika, silke, anke, antje, kerstin, tanja, stefanie steffi, stefan, steffen, katja, leonie, lina, mila, frieda frida, mathilda, greta, marlene, romy, thea, hilde, hildegard, waltraud, irmgard,
edeltraud, rosemarie, liselotte lilo, margit, heidi, jutta, dagmar, doris, cornelia conny, bettina, anette annette, beate, svenja, verena, wiebke, johanna, luise, gudrun, sieglinde, siegfried, reinhard, reinhold, eberhard, egon, erwin, gottfried, hartmut, heiko, heinrich heinz, herbert, hermann, ingo, joachim jochen, jorg, marius, rudiger, rudolf rudi, rolf, udo, veit, wilfried, winfried, wilhelm willi, friedrich fritz, franz,
franziska, andreas andi, matthias mathias, markus marcus, michaela, christa, christoph, klaus claus, nikolaus, katharina kathi, kathrin katrin, karin, elisabeth sissi, margarethe gretchen, josef sepp, maximilian max, ursula uschi, susanne susi, eva, carina, magdalena leni, katrin, martha,
dutch and nordic:
piet, pieter, kees cees, cornelis kees, hendrik henk, gerrit, maarten, marten, sander, joost, bas, bram, daan, sem, thijs tijs, jeroen, marieke, anneke, annika, femke, sanne, lotte, fleur, noor, saar, iris, roos, wouter, bart, koen, joris, stijn, willem wim, johan, anders, mats, magnus, bjorn, gustav gustaf, elsa, astrid, birgitta, maja maya, linnea, freja freya, soren, mette, hanne, lone, pia, ole, knut, kari, liv,
solveig, tor thor, odd, leif, mikko, antti, jari, juha, matti, pekka, paivi, tuula, sari, aino, eino, heikki, kaarina, liisa, marja, riitta, seppo, hannu, henrik, kristian, kristina, kirsten, kristin, eskil, signe,
slavic:
dmitri dmitry dmitriy dima, alexei alexey aleksei aleksey, andrei andrey, mikhail mihail misha, nikolai nikolay kolya, vladimir volodymyr, vladislav vlad, sergei sergey, igor ihor, oleg oleh, pavel, maxim maksim maksym, ruslan, anatoly anatoli, boris, konstantin kostya, svetlana sveta, ekaterina katya, anastasia nastya, ksenia xenia, ludmila lyudmila, galina, nadezhda, polina, daria darya dasha, yulia, oksana, larisa, yuri juri,
irina ira, natalia natalya natasha, elena lena, tatiana tatyana tanya, aleksandr alexandr sasha, aleksandra sasha, alexandra sasha, piotr, krzysztof, andrzej, tomasz, pawel, marcin, michal, jakub kuba, wojciech, zbigniew, katarzyna kasia, agnieszka, malgorzata gosia, ewa, krystyna, zofia, jana, petr, jiri, jaroslav, milan, zdenek, vaclav, lenka, hana, katerina, marketa, tereza, ivana, zuzana, marek, luka, ante, josip, stjepan, zoran,
goran, dragan, nenad, milica, jelena, sanja, vesna, ljiljana, nikola, aleksandar, marija, tea, dora, marko, mirjana, mira, radu, mihai, ion, ioan, gheorghe, vasile, florin, cristian, ioana, andreea, alina, adina, simona, roxana, laszlo, istvan, janos, zoltan, sandor, ferenc, gabor, attila, tamas, erzsebet, katalin, ilona, eszter, agnes, zsuzsanna,
greek and turkish:
georgios giorgos yorgos, ioannis yannis giannis, konstantinos kostas costas, dimitrios dimitris, nikolaos nikos, panagiotis panos, vasileios vasilis, christos, eleni, vasiliki, angeliki, georgia, dimitra, konstantina, mehmet, ahmet, mustafa moustafa, ali, huseyin, hasan hassan, ismail, osman, murat, emre, burak, cem, can, deniz, ayse, emine, hatice, zeynep, elif, merve, esra, ebru, ozge,
arabic persian and hebrew:
mohammed muhammad mohamed mohammad muhammed mohamad, ahmed ahmad, omar umar, hussein husain hossein hussain, khaled khalid, ibrahim, yousef yusuf youssef, yosef, abdullah abdallah, mahmoud mahmud, karim kareem, tariq tarek, samir sameer, samira, amir ameer emir, amira, amina, aisha aicha ayesha, fatima fatma, zainab zeinab, mariam maryam, leila layla laila leyla, nour nur, salma, huda, rania, reza, mehdi mahdi, hamid, farid,
nasser nasir, said saeed, rashid rachid, jamal gamal, walid waleed, ziad zyad, moshe, avi, yael, noa, tamar, shira, rivka, eitan,
indian and east asian:
raj rajesh, rahul, amit, anil, sunil, sanjay, vijay, ajay, ravi, arun, anita, sunita, priya, pooja, neha, kavita, deepak, deepa, ashok, suresh, ramesh, mahesh, ganesh, krishna, lakshmi, meera, nisha, asha, usha, rekha, arjun, rohan, rohit, vikram, aditya, aarav arav, ananya, diya, isha, wei, li, ming, jing, ying, yan, hui, hong, fang, min, jun, lei, mei, xin, yu, jie, hiroshi, takeshi, kenji, yuki, yuko, akiko, keiko, haruto, sakura, minjun, jisoo, seojun, jiwoo
further short forms:
anton toni, antonio to tonino nino, anthony tone, jose pepe pepito zeca, luigi gigi, nicolas nico nicki, nicholas nico, nicola nico, nikolaus niko nico, nikolaos niko, michael micha michi mischa, michaela michi micha,
sebastian basti seb sebi, johanna jo hanni, johannes jo hansi, joachim jo achim, hans hansi hannes, monika moni, manuela manu, manuel manu manolo, daniel dani, daniela dani, viktoria vicky vicki, victoria viki, wolfgang wolle wolfi,
francisco chico kiko curro, joaquim quim, joaquin quino, gustavo guga gus, alessandro sandro ale, alessandra sandra ale, fernando nando, carolina caro, caroline caro, carolin caro, friedrich fritz fred, wilhelm willi willy, josef jupp,
eduardo duda lalo, alejandro alex ale, alejandra alex ale, rafael rafi, salvatore toto, vincenzo enzo, lorenzo renzo, giovanni gio, giuseppe pino peppe, filippo pippo, domenico mimmo, roberto berto robi, ricardo ricky rico, ignacio natxo,
jesus chus, maria mari, isabel isa bel, cristina cris, guillermo memo guille, enrique kike, santiago santi, javier javi, gabriel gabi, gabriela gabi, montserrat montsita, rosario charo, dolores loli, concepcion concha conchi, pilar pili,
stefan steff, stephan steff, matthias matze hias, andreas andy, tobias tobe, florian flori, dominik domi, alexander sascha lex, alexandra sascha, benjamin benno, maximilian maxi, katharina kati, christina tina christl, martina tina, bettina tina,
angelika geli, barbara babsi, susanne sanne, cornelia nele, eleonore nora lore, magdalena lena, helena lena, elisabeth elli lisbeth, theresa resi, therese resi, georg schorsch, jakob jakl, ludwig lutz, leopold poldi, rupert ruppi, valentin vali,
`;

/** Each name with the entries in which it stands. */
const entriesOf = new Map<string, Set<number>>();
for (const [entry, names] of table.replace(/^.*:$/gm, '').split(',').entries()) {
  for (const name of names.trim().split(/\s+/)) entriesOf.getOrInsertComputed(name, () => new Set()).add(entry);
}

export const isGivenName = (word: string): boolean => entriesOf.has(word);

/** Whether two given names are forms of one name; undefined if one of them is not a common name. */
export function areForms(a: string, b: string): boolean | undefined {
  const [ofA, ofB] = [entriesOf.get(a), entriesOf.get(b)];
  if (ofA === undefined || ofB === undefined) return undefined;
  return !ofA.isDisjointFrom(ofB) || soundOf(a) === soundOf(b);
}

/** Languages differ in these spellings of one name: Sofia and Sophia, Lucas and Lukas, Ana and Anna, Marta and Martha. */
const soundOf = (name: string): string =>
  name
    .replaceAll('ph', 'f')
    .replaceAll('th', 't')
    .replaceAll('c', 'k')
    .replace(/(.)\1+/g, '$1');
